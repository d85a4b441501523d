"""A team's instance: members sign in through a real provider, and see what is theirs and what is shared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.provider import environment, provider
from tests.browser.server import Server, free_port, serving
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, evaluate, press, settled, upload

ANN, BEN, EVE = "ann@lab.example", "ben@lab.example", "eve@elsewhere.example"
SECRET = "誰にも見せない文です"
SignIn = Callable[[str, str], Page]


@pytest.fixture(scope="module")
def members_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("members") / "members"
    file.write_text(f"{ANN}\n{BEN}\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, members_file: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("team")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        provider({ANN: "Ann", BEN: "Ben", EVE: "Eve"}) as issuer,
        serving(
            folder / "data", port, {**environment(folder, issuer, url, ""), "HAKARI_MEMBERS_FILE": str(members_file)}
        ) as server,
    ):
        yield server


@pytest.fixture
def sign_in(chromium: Browser, team: Server) -> Iterator[SignIn]:
    """Opens a path in a browser of its own and signs in there."""
    contexts: list[BrowserContext] = []

    def open_as(email: str, path: str) -> Page:
        contexts.append(chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True))
        contexts[-1].set_default_timeout(WAIT_MILLISECONDS)
        page = contexts[-1].new_page()
        page.goto(team.url + path)
        press(page.get_by_role("button", name="Sign in"))
        page.get_by_role("button", name=email, exact=True).click()  # the provider's page
        page.wait_for_selector('[data-testid="stSidebar"], [data-testid="stAlert"]')
        return page

    yield open_as
    for context in contexts:
        context.close()


def replaced(file: Path, text: str) -> None:
    """Write a file in one step: a server that reads in between would see no members."""
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def run_link(page: Page) -> str:
    return re.sub(r"^https?://[^/]+", "", page.url)


def test_only_members_who_signed_in_see_pages(chromium: Browser, team: Server, sign_in: SignIn) -> None:
    context = chromium.new_context()
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    for path in ("/", "/runs", "/models", "/clusters?run=guessed"):
        page.goto(team.url + path)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        expect(page.get_by_text("Sample", exact=True)).to_have_count(0)
        expect(page.locator('[data-testid="stSidebarNav"]')).to_have_count(0)
    context.close()
    stranger = sign_in(EVE, "/runs")
    expect(stranger.get_by_text(f"{EVE} is not a member of this instance")).to_be_visible()
    expect(stranger.get_by_role("button", name="Sign in with another account")).to_be_visible()


def test_a_private_run_a_shared_one_and_one_no_longer_shared(team: Server, sign_in: SignIn, tmp_path: Path) -> None:
    data = tmp_path / "unpublished.csv"
    rows = [f"文その{i}、{SECRET}。,{'猫' if i % 2 else '犬'}" for i in range(12)]
    data.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    ann = sign_in(ANN, "/clusters")
    settled(ann)
    expect(ann).to_have_url(re.compile("/clusters"))  # the link survived the sign-in
    with ann.expect_request(lambda request: request.method == "PUT") as sent:
        upload(ann, data)
    evaluate(ann)
    share = ann.get_by_text("Shared with the team")
    share.wait_for(timeout=RUN_MILLISECONDS)
    link = run_link(ann)

    ben = sign_in(BEN, link)
    settled(ben)
    # The address of her upload, if he came to know it, is of no use to him.
    for answer in (ben.request.delete(sent.value.url), ben.request.put(sent.value.url, multipart={"file": data})):
        assert (answer.status, answer.text()) == (403, "This page is somebody else's.")
    expect(ben).to_have_url(re.compile(re.escape(link)))
    expect(ben.get_by_text("There is no run at this link")).to_be_visible()
    expect(ben.get_by_role("button", name=re.compile(r"\.csv"))).to_have_count(0)
    ben.goto(f"{team.url}/runs")
    settled(ben)
    expect(ben.get_by_text("Nothing was evaluated yet.")).to_be_visible()
    press(ben.get_by_text("Team runs", exact=True))
    expect(ben.get_by_text("Nobody has shared a run yet.")).to_be_visible()
    expect(ben.get_by_text("unpublished")).to_have_count(0)
    assert SECRET not in ben.content()

    press(share)
    expect(ann.get_by_role("switch", name="Shared with the team")).to_be_checked()
    settled(ann)
    ben.goto(team.url + link)
    settled(ben)
    expect(ben.get_by_text(f"Shared by {ANN}")).to_be_visible()
    expect(ben.get_by_text("Shared with the team")).to_have_count(0)  # not his to switch
    press(ben.get_by_role("button", name="Run it as my own"))
    ben.wait_for_function(f"!location.href.includes({link.partition('run=')[2]!r})")
    ben.get_by_text("Shared with the team").wait_for(timeout=RUN_MILLISECONDS)

    press(share)
    expect(ann.get_by_role("switch", name="Shared with the team")).not_to_be_checked()
    settled(ann)
    ben.goto(team.url + link)
    settled(ben)
    expect(ben.get_by_text("There is no run at this link")).to_be_visible()
    ben.reload()
    expect(ben.get_by_text("There is no run at this link")).to_be_visible()


def copied(page: Page, chromium: Browser) -> BrowserContext:
    """A browser with a copy of the cookies of another."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    return context


def is_signed_out(page: Page) -> None:
    """The page, which nobody touches, shows the sign-in and nothing of what was there."""
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.locator('[data-testid="stSidebarNav"]')).to_have_count(0)


@pytest.mark.nightly
def test_signing_out_ends_access_in_open_tabs_and_for_a_copied_cookie(
    team: Server,
    sign_in: SignIn,
    chromium: Browser,
) -> None:
    page = sign_in(BEN, "/")
    settled(page)
    other_tab = page.context.new_page()
    other_tab.goto(f"{team.url}/runs")
    settled(other_tab)
    thief = copied(page, chromium)
    stolen = thief.new_page()
    stolen.goto(f"{team.url}/models")
    settled(stolen)
    expect(stolen.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    elsewhere = sign_in(BEN, "/datasets")  # a sign-in of its own, which stays
    settled(elsewhere)

    press(page.get_by_role("button", name="Sign out", exact=True))
    page.wait_for_url(re.compile("end_session"))  # the provider's own goodbye
    for open_page in (other_tab, stolen):
        is_signed_out(open_page)
    stolen.goto(f"{team.url}/runs")
    expect(stolen.get_by_role("button", name="Sign in")).to_be_visible()
    page.goto(f"{team.url}/runs")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    thief.close()
    expect(elsewhere.get_by_role("button", name="Sign out", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_signing_out_everywhere_and_being_taken_off_the_list_end_open_pages(
    team: Server,
    sign_in: SignIn,
    members_file: Path,
) -> None:
    pages = [sign_in(BEN, path) for path in ("/runs", "/models")]
    for page in pages:
        settled(page)
    press(pages[0].get_by_role("button", name="Sign out everywhere"))
    is_signed_out(pages[1])

    ann, ben = sign_in(ANN, "/runs"), sign_in(BEN, "/runs")
    settled(ann)
    settled(ben)
    replaced(members_file, f"{ANN}\n")
    try:
        is_signed_out(ben)
        settled(ann)
        expect(ann.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    finally:
        replaced(members_file, f"{ANN}\n{BEN}\n")
