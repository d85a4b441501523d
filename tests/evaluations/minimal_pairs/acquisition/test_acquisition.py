"""Ages of acquisition through the evaluation and the command, held against a plain version of the challenge's script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import pearsonr
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from engine.__main__ import main
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.minimal_pairs.acquisition.curves import (
    NO_SERIES,
    acquisition_ages,
    context_surprisals,
    learned_words,
    word_curves,
)
from engine.evaluations.minimal_pairs.babylm.predictions import prediction_files
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.kinds.finding import finding
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.measures.word_acquisition import child_age, model_age
from engine.models.sources.cards import built_in_directory
from tests.support import tiny_models
from tests.support.in_process import InProcess
from tests.support.session_fake import SessionFake

MONTHS = range(16, 31)
WORDS = {  # our own contexts, and the month at which half of the children would say the word
    "dog": (["I raised a ", "the old"], 18.5),
    "milk": (["she drank some"], 21.0),
    "jump": (["we all", "you can  "], 24.0),
    "because": (["he was late"], 28.5),
    "sky": (["look at the"], None),
}
STEPS = ("chck_1M", "chck_3M", "chck_10M", "chck_30M", "chck_100M")


def published(folder: Path) -> Path:
    """The two files as the challenge has them; the children know another word, too, and one of ours is not theirs."""
    folder.mkdir(parents=True)
    lists = {word: [{"context": context} for context in contexts] for word, (contexts, _) in WORDS.items()}
    (folder / "cdi_childes.json").write_text(json.dumps(lists | {"a": [{"context": "this is"}]}), encoding="utf-8")
    lines = [",".join(["word", "category", *map(str, MONTHS)])]
    for word, middle in [*((word, middle) for word, (_, middle) in WORDS.items() if middle), ("ball", 17.0)]:
        shares = [round(1 / (1 + float(np.exp(-0.6 * (month - middle)))), 4) for month in MONTHS]
        lines.append(",".join([word, "nouns", *map(str, shares)]))
    (folder / "cdi_human.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


def curves_fake(models: tuple[str, ...]) -> Result:
    """A result of models that learn every word along a curve of its own; tokens are characters."""

    class Learning(SessionFake):
        def token_log_likelihoods(self, model: str, texts: Any, **settings: Any) -> list[dict[str, Any]]:
            pieces = super().token_log_likelihoods(model, texts, **settings)
            step = float(model.rpartition("_")[2].rstrip("M")) * 1e6
            for text, piece in zip(texts, pieces, strict=True):
                word = text.split()[-1]
                middle = 6.2 + 0.25 * list(WORDS).index(word)
                surprisal = 14 - 12 / (1 + np.exp(-5 * (np.log10(step + 1) - middle)))
                scores = np.zeros(len(text), dtype=np.float32)
                scores[-len(word) :] = -surprisal / len(word)
                piece["log_likelihoods"] = scores[len(text) - len(piece["log_likelihoods"]) :]
            return pieces

    return evaluate(Settings(models), DATASET, Learning(dict.fromkeys(models, "causal")))  # type: ignore[arg-type]


def age_in_months(text: str) -> float | None:
    """What the shares by month of a field come to, or the age that it holds; None for neither."""
    if not text.startswith("{"):
        return float(text) if text else None
    shares = json.loads(text)
    return child_age(list(map(int, shares)), list(shares.values()))


DATASET = from_table(
    read_table(
        "\n".join(
            [
                "word,context,aoa",
                *(
                    f"{word},{context},{middle or ''}"
                    for word, (contexts, middle) in WORDS.items()
                    for context in contexts
                ),
            ]
        ).encode(),
        "words.csv",
    )
)


def test_the_files_of_the_challenge_are_one_data_set(tmp_path: Path) -> None:
    folder = published(tmp_path / "aoa")
    dataset = read_pairs([("aoa", folder)])
    assert dataset.acceptable[:2] == ("I raised a dog", "the old dog") and len(dataset) == 7  # without "a"
    assert dataset.data_kind.name == "acquisition" and dataset.fields["context"][0] == "I raised a "
    known = dict(zip(dataset.fields["word"], map(age_in_months, dataset.fields["aoa"]), strict=True))
    for word, (_, middle) in WORDS.items():
        assert known[word] is None if middle is None else known[word] == pytest.approx(middle, abs=0.05)
    apart = read_pairs([(name, folder / name) for name in ("cdi_human.csv", "cdi_childes.json")])
    assert apart.fields == dataset.fields and apart.data_kind.regions(apart.originals)[0] == [(1, (11, 14))]  # type: ignore[misc]
    again = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert again.content_hash == dataset.content_hash and again.data_kind is dataset.data_kind
    with pytest.raises(InputError, match="go with words in contexts"):
        read_pairs([("cdi_human.csv", folder / "cdi_human.csv")])
    (tmp_path / "pairs.csv").write_text("sentence_good,sentence_bad\na b,b a\n", encoding="utf-8")
    beside = read_pairs([("full_eval", tmp_path)])
    assert beside.acceptable == ("a b",) and any("for a run of their own" in str(said) for said in beside.notices)
    with pytest.raises(InputError, match="go with words in contexts"):
        read_pairs([(name, tmp_path / name) for name in ("pairs.csv", "aoa/cdi_human.csv")])


def test_tables_of_ones_own() -> None:
    assert DATASET.acceptable[2] == "she drank some milk" and DATASET.fields["aoa"][2] == "21.0"
    text = "語,文脈,歳\n犬,黒い,19\n空,青い,\n"
    columns = {"word": "語", "context": "文脈", "aoa": "歳"}
    dataset = from_table(read_table(text.encode(), "own.csv"), columns)
    assert dataset.acceptable == ("黒い犬", "青い空") and dataset.fields["aoa"] == ("19.0", "")
    months = "word,context," + ",".join(map(str, MONTHS)) + "\n"
    shares = ["%.4f" % (1 / (1 + np.exp(-0.5 * (month - 20)))) for month in MONTHS]
    by_month = from_table(read_table(f"{months}dog,a,{','.join(shares)}\n".encode(), "own.csv"))
    assert age_in_months(by_month.fields["aoa"][0]) == pytest.approx(child_age(list(MONTHS), list(map(float, shares))))
    with pytest.raises(InputError) as refused:
        from_table(read_table(b"word,context,aoa\n,a,3\ndog,b,soon\ncat,c,4\n", "own.csv"))
    assert [bad.row for bad in refused.value.rows] == [1, 2]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("babygpt") / "babygpt"
    root.mkdir()
    for step in STEPS[:3]:  # the file of a training whose checkpoints are alike is as good
        (root / step).symlink_to(built_in_directory("builtin/gpt2-mini-en"), target_is_directory=True)
    return [root / step for step in STEPS[:3]]


@pytest.fixture(scope="module")
def result(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Result:
    dataset = read_pairs([("aoa", published(tmp_path_factory.mktemp("data") / "aoa"))])
    gateway = Gateway(InProcess(), Cache(tmp_path_factory.mktemp("cache") / "cache.sqlite", 10**8))
    settings = Settings(tuple(map(str, models)), pll="original", prefix="template")
    return evaluate(settings, dataset, gateway.session("run"))


def surprisal_plainly(folder: Path, context: str, word: str) -> float:
    """The script's surprisal: of the tokens that reach into the word, the text tokenized whole."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    text = f"{context.strip()} {word}"
    read = tokenizer(text, return_offsets_mapping=True)
    ids, start = torch.tensor(read["input_ids"]), len(text) - len(word)
    with torch.no_grad():
        logs = torch.log_softmax(model(input_ids=ids[None]).logits[0], dim=-1)
    inside = [place for place, (_, end) in enumerate(read["offset_mapping"]) if end > start]
    return -float(sum(logs[place - 1, ids[place]] for place in inside))


def test_surprisals_and_the_file_are_those_of_the_script(result: Result, models: list[Path]) -> None:
    files = prediction_files(result, DATASET)
    assert list(files) == ["babygpt/main/zero_shot/causal/AoA_word/surprisal.json"]
    written = json.loads(next(iter(files.values())))
    assert written["metadata"] == {
        "model_name": "babygpt",
        "use_bos_only": False,
        "total_steps": 3,
        "completed_steps": 3,
    }
    expected = [
        (step, word, number, context, surprisal_plainly(folder, context, word))
        for step, folder in zip(STEPS, models, strict=False)
        for word, (contexts, _) in WORDS.items()
        for number, context in enumerate(contexts)
    ]
    for entry, (step, word, number, context, surprisal) in zip(written["results"], expected, strict=True):
        assert (entry["step"], entry["target_word"], entry["context_id"], entry["context"]) == (
            step,
            word,
            number,
            context,
        )
        assert entry["surprisal"] == pytest.approx(surprisal, abs=1e-4)
        assert entry["word_count"] == {"chck_1M": 1e6, "chck_3M": 3e6, "chck_10M": 1e7}[step]
    bits = context_surprisals(result)["surprisal"]
    assert bits.index.tolist() == list(range(len(expected)))
    assert (bits * np.log(2)).tolist() == pytest.approx([surprisal for *_, surprisal in expected], abs=1e-4)


def test_masked_models_are_scored_as_its_mlm(tmp_path: Path) -> None:
    folder = tiny_models.bert(tmp_path / "bert" / "chck_1M", max_tokens=64)
    gateway = Gateway(InProcess(), Cache(tmp_path / "cache.sqlite", 10**8))
    found = context_surprisals(evaluate(Settings((str(folder),), pll="original"), DATASET, gateway.session("run")))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()
    for text, word, bits in zip(DATASET.acceptable, DATASET.fields["word"], found["surprisal"], strict=True):
        read = tokenizer(text, return_offsets_mapping=True)
        total = 0.0
        for place, (_, end) in enumerate(read["offset_mapping"]):
            if end > len(text) - len(word):
                ids = torch.tensor(read["input_ids"])
                target, ids[place] = int(ids[place]), tokenizer.mask_token_id
                with torch.no_grad():
                    total -= float(torch.log_softmax(model(input_ids=ids[None]).logits[0, place], dim=-1)[target])
        assert bits * np.log(2) == pytest.approx(total, abs=1e-4)


def test_ages_are_those_of_the_measure_and_the_correlation_over_words() -> None:
    models = tuple(f"owner/babygpt@{step}" for step in STEPS)
    found = curves_fake(models)
    learned, curve = learned_words(found), word_curves(found)
    assert learned["word"].tolist() == list(WORDS) and set(learned["series"]) == {"owner/babygpt"}
    assert learned["n"].tolist() == [len(contexts) * len(STEPS) for contexts, _ in WORDS.values()]
    assert learned["model_age"].iloc[0] < learned["model_age"].iloc[2]  # "dog" before "jump"
    steps = np.array([1e6, 3e6, 1e7, 3e7, 1e8])
    for word, line in zip(WORDS, learned.to_dict("records"), strict=True):
        nats = curve[curve["word"] == word]["surprisal"].to_numpy() * np.log(2)  # equal in every context
        n = len(WORDS[word][0])
        expected, has_settled = model_age(np.repeat(steps, n), np.repeat(nats, n), [np.log(300_000), np.log2(300_000)])
        assert has_settled
        assert [line["model_age"], line["challenge_age"]] == pytest.approx(expected.tolist(), rel=1e-5, nan_ok=True)
    (ages,) = acquisition_ages(found).to_dict("records")
    both = learned.dropna(subset=["child_age", "model_age"])
    assert ages["n"] == len(both) >= 3 and ages["n_words"] == 5 and ages["n_checkpoints"] == 5
    assert ages["pearson"] == pytest.approx(pearsonr(both["child_age"], both["model_age"])[0]) and ages["pearson"] > 0.9
    of_challenge = learned.dropna(subset=["child_age", "challenge_age"])
    assert ages["n_challenge"] == len(of_challenge)
    assert ages["challenge"] == pytest.approx(pearsonr(of_challenge["child_age"], of_challenge["challenge_age"])[0])
    (headline,) = headlines(found, models[0])
    assert headline.value == ages["pearson"] and headline.n == ages["n"]
    # One training, not five models that tie.
    said = finding(found)
    assert said.startswith(f"owner/babygpt: correlation of ages of acquisition {ages['pearson']:.3f} [")
    assert "models" not in said and ("are learned early by the model" in said) == (ages["ci_low"] > 0)
    assert "獲得年齢" in said.in_language("ja") and "acquisition" not in said.in_language("ja")


def test_without_checkpoints_there_are_surprisals_alone() -> None:
    found = evaluate(Settings(("m",)), DATASET, SessionFake({"m": "causal"}))  # type: ignore[arg-type]
    assert len(context_surprisals(found)) == 7 and word_curves(found).empty and acquisition_ages(found).empty
    assert any(str(notice).startswith("When a word is learned shows in a training alone") for notice in found.notices)
    assert str(headlines(found, "m")[0].reason) == NO_SERIES.format(fewest=3)
    assert str(finding(found)) == NO_SERIES.format(fewest=3)
    with pytest.raises(InputError, match="checkpoints of one, with their steps"):
        prediction_files(found, DATASET)


@pytest.mark.usefixtures("commands_share_workers")
def test_the_command_writes_the_tables(tmp_path: Path, models: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = published(tmp_path / "aoa"), tmp_path / "out"
    common = ["minimal-pairs", "--data", str(folder), "--out", str(out)]
    common += [word for model in models for word in ("--model", str(model))]
    assert main([*common, "--preset", "babylm", "--submission", "babylm"]) == 0
    assert pd.read_csv(out / "acquisition.csv")["n_checkpoints"].tolist() == [3]
    assert len(pd.read_csv(out / "learned_words.csv")) == 5 and len(pd.read_csv(out / "word_curves.csv")) == 15
    assert len(pd.read_csv(out / "context_surprisals.csv")) == 21
    assert (out / "babylm/babygpt/main/zero_shot/causal/AoA_word/surprisal.json").exists()
    assert main([*common, "--folds", "3"]) == 2
    assert "--folds" in capsys.readouterr().err
