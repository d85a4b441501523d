"""Every kind of model on the pages: a real server, real workers, a browser; and what its processes may import."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import peft
import psutil
import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoModel

from tests.browser.server import Server, serving
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    choose_models,
    downloaded,
    evaluate,
    settled,
    upload,
)
from tests.inference.endpoint.completions_server import SERVED, completions_server
from tests.support import tiny_models
from tests.support.fake_hub import REPOSITORY, FakeHub, environment

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:peft")
TEXTS = {
    "動物": ("猫が窓辺で眠っている。", "犬が庭を走り回る。", "小鳥が枝で歌う。", "馬が草を食べる。"),
    "町": ("駅前に新しい店ができた。", "橋の工事が始まった。", "市場は朝から賑わう。", "バスが坂を上っていく。"),
}
ROWS = [(text, label) for label, texts in TEXTS.items() for text in texts]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


@pytest.fixture(scope="module")
def directories(folder: Path) -> dict[str, Path]:
    """The models, as the libraries that make them save them."""
    own = tiny_models.bert_japanese(folder / "own")
    published, adapter, quantised = (folder / name for name in ("published", "adapter", "quantised"))
    SentenceTransformer(modules=[Transformer(str(own)), Pooling(tiny_models.HIDDEN, "mean")], device="cpu").save(
        str(published)
    )
    torch.manual_seed(1)
    peft.get_peft_model(
        AutoModel.from_pretrained(own), peft.LoraConfig(target_modules=["query", "value"], init_lora_weights=False)
    ).save_pretrained(adapter)
    tiny_models.bert_japanese(quantised)
    config = json.loads((quantised / "config.json").read_text(encoding="utf-8"))
    (quantised / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": "awq"}}))
    return {
        "own": own,
        "published": published,
        "adapter": adapter,
        "quantised": quantised,
        "causal": tiny_models.gpt2_unigram(folder / "causal"),
    }


@pytest.fixture(scope="module")
def server(folder: Path, directories: dict[str, Path]) -> Iterator[Server]:
    """A server that reaches a hub and a server of completions, both on loopback."""
    hub = FakeHub({path.name: path.read_bytes() for path in directories["own"].iterdir()})
    variables = environment(folder / "hub-home", endpoint=hub.endpoint)
    variables.pop("PYTHONPATH")
    with (
        completions_server(directories["causal"]) as served,
        serving(
            folder / "data", environment=variables | {"HAKARI_ENDPOINTS": f"served={served.address} model={SERVED}"}
        ) as running,
    ):
        yield running
    hub.shutdown()
    hub.server_close()


@pytest.fixture(scope="module")
def shown(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1366, "height": 900}, accept_downloads=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def labelled(folder: Path) -> Path:
    path = folder / "mine.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS), encoding="utf-8")
    return path


def models_of(page: Page, table: str = "models") -> list[str]:
    settled(page)
    return list(dict.fromkeys(row["model"] for row in downloaded(page, table)))


def test_directories_adapter_and_hub_on_one_map(
    shown: Page,
    server: Server,
    directories: dict[str, Path],
    labelled: Path,
) -> None:
    names = [str(directories[name]) for name in ("published", "own", "adapter")] + [REPOSITORY]
    shown.goto(address(server, "clusters"))
    settled(shown)
    upload(shown, labelled)
    expect(shown.get_by_role("button", name=re.compile(f"{len(ROWS)} rows")).first).to_be_visible()
    choose_models(shown, *names)
    evaluate(shown)
    assert models_of(shown) == names


@pytest.mark.parametrize(("name", "table"), [("classification", "models"), ("alignment", "pairs")])
def test_a_model_of_sentence_transformers_on_the_other_pages_of_vectors(
    shown: Page,
    server: Server,
    directories: dict[str, Path],
    labelled: Path,
    name: str,
    table: str,
) -> None:
    shown.goto(address(server, name))
    settled(shown)
    if name == "classification":
        upload(shown, labelled)
        expect(shown.get_by_role("button", name=re.compile(f"{len(ROWS)} rows")).first).to_be_visible()
    choose_models(shown, str(directories["published"]))
    evaluate(shown)
    assert models_of(shown, table) == [str(directories["published"])]


def test_an_endpoint_beside_a_directory(
    shown: Page, server: Server, directories: dict[str, Path], folder: Path
) -> None:
    pairs = folder / "pairs.csv"
    pairs.write_text("acceptable,unacceptable\n猫が鳴く。,猫を鳴く。\n犬が走った。,犬に走った。\n", encoding="utf-8")
    shown.goto(address(server, "minimal_pairs"))
    settled(shown)
    upload(shown, pairs)
    expect(shown.get_by_role("button", name=re.compile("2 pairs|2 rows")).first).to_be_visible()
    choose_models(shown, "endpoint/served", str(directories["causal"]))
    evaluate(shown)
    rows = downloaded(shown, "pairs")
    by_model = {
        name: [float(row["acceptable_log_likelihood"]) for row in rows if row["model"] == name]
        for name in ("endpoint/served", str(directories["causal"]))
    }
    assert len(rows) == 4
    assert by_model["endpoint/served"] == pytest.approx(by_model[str(directories["causal"])], abs=1e-3)


def test_quantised_weights_are_refused_in_words(
    shown: Page, server: Server, directories: dict[str, Path], labelled: Path
) -> None:
    shown.goto(address(server, "clusters"))
    settled(shown)
    upload(shown, labelled)
    expect(shown.get_by_role("button", name=re.compile(f"{len(ROWS)} rows")).first).to_be_visible()
    choose_models(shown, str(directories["quantised"]))
    evaluate(shown)
    expect(shown.get_by_text(re.compile("quantised.*awq")).first).to_be_visible(timeout=RUN_MILLISECONDS)


def test_no_process_has_a_folder_of_ours_on_its_path(server: Server, shown: Page) -> None:
    # The fork server and the workers are told their path when they are started.
    root = str(Path(__file__).parents[2])
    processes = psutil.Process(server.process.pid).children(recursive=True)
    told = [" ".join(process.cmdline()) for process in processes if "forkserver" in " ".join(process.cmdline())]
    assert told, "the readers and runs of the tests above were forked"
    for line in told:
        assert f"'{root}/dashboard'" not in line and f"'{root}/engine'" not in line, line
