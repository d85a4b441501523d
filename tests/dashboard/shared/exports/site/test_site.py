"""A site of runs: what a browser without a server finds in it."""

from __future__ import annotations

import errno
import html
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from dashboard.alignment.view import view_data
from dashboard.faces import FACES
from dashboard.shared import session
from dashboard.shared.exports.live import FOLDER, LiveView, live_html, within
from dashboard.shared.exports.site import pages
from dashboard.shared.exports.site.drawing import asked_for
from engine.errors import InputError
from engine.evaluations.alignment.rescoring import matrix, rescore
from engine.messages.languages import in_language, translated
from engine.runs import open as opening
from hakari.__main__ import main
from tests.dashboard.shared.exports.runs_of_files import ROWS, finished
from tests.support.fakes import FakeBackend

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
CONFIG = Path(__file__).parents[5] / ".streamlit" / "config.toml"


@pytest.fixture
def export(tmp_path: Path, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a site by the command, which opens the directory of the test's engine again."""
    opened: Callable[..., opening.Engine] = opening.open_engine  # that of the fixture, which takes no arguments
    monkeypatch.setattr(opening, "open_engine", lambda *_, **__: opened())

    def write(*words: str) -> Path:
        assert main(["export", "--site", str(tmp_path / "site"), *words]) == 0
        return tmp_path / "site"

    return write


def shown(page: Path) -> str:
    return html.unescape(re.sub(r"<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL))


def pages_of(site: Path, language: str) -> dict[str, Path]:
    """The page of each kind of run."""
    return {page.stem.rpartition("-")[0]: page for page in (site / language).glob("*-*.html")}


def test_a_site_has_every_kind_of_run_in_both_languages(
    export: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_ids = {kind: finished(kind, tmp_path) for kind in ROWS}
    results = {kind: session.access().result(run_id) for kind, run_id in run_ids.items()}
    site = export("--title", "Ours <1>", *run_ids.values())
    files = [path for path in site.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    said = capsys.readouterr()
    assert said.out.splitlines() == [f"{site / 'index.html'}: {len(ROWS)} runs, {size:.1f} MB"]
    assert f"{len(ROWS)} of {len(ROWS)} runs drawn" in said.err.splitlines()
    assert len(files) == 2 + 3 * len(ROWS) + 2
    for language in ("en", "ja"):
        index, pages = shown(site / language / "index.html"), pages_of(site, language)
        assert set(pages) == set(ROWS) and "<h1>Ours <1></h1>" in index
        for kind, page in pages.items():
            with in_language(language):
                found = translated(FACES[kind].found(results[kind]))
            assert found in index and found in shown(page), kind
            assert f'href="{page.name}"' in index and f"../tables/{page.stem}.zip" in shown(page)
            leads = re.findall(r'(?:src|href)="([^"#]+)"', page.read_text(encoding="utf-8"))
            assert leads and all((page.parent / address).is_file() for address in leads), leads  # nothing of a network
    (en,) = re.findall(r"<h1>(.*)</h1>", shown(pages_of(site, "en")["clusters"]))
    (ja,) = re.findall(r"<h1>(.*)</h1>", shown(pages_of(site, "ja")["clusters"]))
    assert en.startswith("Clusters: ") and ja.startswith("クラスタ")


def test_the_index_names_samples_and_models_as_the_pages_do() -> None:
    report: Any = SimpleNamespace(
        title="t", found="f", signature={"models": [{"name": "Ours=/srv/secret/ours"}, {"name": "owner/name"}]}
    )
    run: Any = SimpleNamespace(dataset_name="sample labelled sentences, en", finished=None)
    with in_language("ja"):
        entry = pages._entry(report, run, "clusters-1")
    assert "モデル: Ours、owner/name · データ: サンプルのラベル付き文（English）</p>" in entry


def test_the_tables_are_whole_and_signed(export: Callable[..., Path], tmp_path: Path) -> None:
    run_id = finished("minimal-pairs", tmp_path)
    result = session.access().result(run_id)
    (page,) = pages_of(export(run_id), "en").values()
    with zipfile.ZipFile(tmp_path / "site" / "tables" / f"{page.stem}.zip") as tables:
        pairs = pd.read_csv(io.BytesIO(tables.read("pairs.csv")))
        signature = json.loads(tables.read("signature.json"))
    assert pairs["acceptable_log_likelihood"].tolist() == pytest.approx(
        result.pairs["acceptable_log_likelihood"].tolist()
    )
    assert set(pairs["signature"]) == {page.stem.rpartition("-")[2]} and signature["models"]


def test_a_link_with_choices_shows_what_its_page_shows(export: Callable[..., Path], tmp_path: Path) -> None:
    run_id = finished("minimal-pairs", tmp_path)
    address = f"http://localhost:8501/minimal_pairs?run={run_id}&normalization=PenLP"
    (as_linked,) = pages_of(export(address), "en").values()
    assert "PenLP" in shown(as_linked).partition("<figure>")[0]


def test_pairs_are_aligned_as_on_the_page(export: Callable[..., Path], tmp_path: Path) -> None:
    run_id = finished("alignment", tmp_path)
    result = session.access().result(run_id)
    (page,) = pages_of(export(f"/alignment?run={run_id}&row=3"), "ja").values()
    text = page.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="live-1-data">(.*?)</script>', text)
    drawn: list[dict[str, Any]] = json.loads(data)["choices"]
    assert len(drawn) == len(result.pairs) == text.count("<option")
    assert re.findall(r"<option selected>(\d+): ", text) == ["3"]
    model = result.settings.models[0]
    scores = rescore(result, result.settings.scoring)
    for row, data in zip(result.pairs["row"], drawn, strict=True):
        tokens = scores.tokens[(scores.tokens["row"] == row) & (scores.tokens["model"] == model)]
        wanted = view_data(tokens, matrix(result, model, row), scores.thresholds[model], scores.scoring)
        for side in ("reference", "candidate"):
            assert [one["text"] for one in data[side]] == [one["text"] for one in wanted[side]]
            assert [one["match"] for one in data[side]] == [one["match"] for one in wanted[side]]
            for one, other in zip(data[side], wanted[side], strict=True):
                assert one["similarity"] == pytest.approx(other["similarity"], abs=1e-6)


def test_what_cannot_be_shown_is_said(
    export: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run_id = tmp_path / "site", finished("fill-mask", tmp_path)
    assert main(["export", "--site", str(folder), "unknown"]) == 1
    assert "unknown" in capsys.readouterr().err and not folder.exists()
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine", encoding="utf-8")
    assert main(["export", "--site", str(folder), run_id]) == 2
    assert "Name an empty folder" in capsys.readouterr().err and len(list(folder.iterdir())) == 1
    with pytest.raises(InputError, match="no link to a run"):
        asked_for("http://localhost:8501/clusters")


def test_of_an_earlier_site_no_run_stays_that_is_not_chosen_again(export: Callable[..., Path], tmp_path: Path) -> None:
    kept, left_out = finished("fill-mask", tmp_path), finished("alignment", tmp_path)
    export(kept, left_out)
    (tmp_path / "site" / "en" / "notes.txt").write_text("mine", encoding="utf-8")
    site = export(kept)
    names = [path.name for path in site.rglob("*") if path.is_file()]
    assert not [name for name in names if name.startswith("alignment-")] and "notes.txt" in names
    assert len([name for name in names if name.startswith("fill-mask-")]) == 3


def test_a_full_disk_is_said(
    export: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = finished("fill-mask", tmp_path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["export", "--site", str(tmp_path / "site"), run_id]) == 1
    assert "cannot be written" in (said := capsys.readouterr().err) and "No space left on device" in said


def test_with_members_the_runs_that_are_shared_are_shown(
    export: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The operator has no browser: nobody signs in, and no cookie of the sign-in is asked for."""
    shared, private = finished("fill-mask", tmp_path), finished("alignment", tmp_path)
    session.access().share(shared, True)
    session.engine().store.change(private, owner="member:ann")
    monkeypatch.setenv("HAKARI_ALLOWED_DOMAINS", "lab.example")
    assert pages_of(export(shared), "ja").keys() == {"fill-mask"}
    assert main(["export", "--site", str(tmp_path / "other"), private]) == 1
    assert private in capsys.readouterr().err


def test_choices_fit_into_their_room() -> None:
    choices = [(str(n), {"x": "a" * 90}) for n in range(10)]
    assert [label for label, _ in within(choices, 2 * 98)] == ["0", "1"] and within(choices, 1) == choices[:1]
    assert within(choices, 10_000) == choices and within([], 5) == []


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "<b> & \u2028", "\\u003c"])
def test_the_data_of_a_component_are_read_back_whatever_a_sentence_holds(text: str) -> None:
    page = live_html(
        LiveView("t", "", "", "export default function (", [("one", {"tokens": [text]})], {"note": text}), "n"
    )
    (data,) = re.findall(r'<script type="application/json" id="n-data">(.*?)</script>', page, re.DOTALL)
    assert "<" not in data and json.loads(data) == {"choices": [{"tokens": [text]}], "common": {"note": text}}


def test_components_have_the_colours_of_the_theme() -> None:
    light = CONFIG.read_text(encoding="utf-8").partition("[theme.light]")[2].partition("\n[")[0]
    configured = dict(re.findall(r'^(\w+) = "(#\w+)"', light, re.MULTILINE))
    for variable, colour in re.findall(r"--st-([a-z-]+): (#\w+);", (FOLDER / "live.css").read_text(encoding="utf-8")):
        head, *rest = variable.split("-")
        assert configured[head + "".join(part.title() for part in rest)] == colour, variable
