"""The bench's own arithmetic: operations counted by hand, and that a missed target is said."""

from __future__ import annotations

import json
import os
import re
import time
from functools import partial
from pathlib import Path

import pytest
from transformers import AutoTokenizer, BertConfig, GPT2Config

from engine.datasets import sample_data
from engine.models.sources.cards import built_in_directory
from engine.models.tokenization.encoding import token_ids
from engine.runs.open import open_engine
from tests.benchmarks import __main__ as bench
from tests.benchmarks import base_models, cluster_cases, limits, report, server_cases, stored_runs
from tests.benchmarks.host.cases import HostCase
from tests.benchmarks.limits import Size
from tests.benchmarks.measuring import Budget, ProcessorTime, Ratio
from tests.benchmarks.peer_cases import Beside

SMALL = Size(2, 4, 10)


def test_operations_by_hand() -> None:
    # A token through a layer of width 4: 12 matrices of 4 x 4, 2 operations each: 384; attending to 3 tokens, scores
    # and their weighted sum: 2 x 2 x 3 x 4 = 48. 3 tokens, 2 layers: 3 x 2 x 432 = 2,592.
    assert limits.encoded(SMALL, [3]) == 2592
    # One layer whole, 3 x 432 = 1,296; of the last one token whole, 432, and keys and values of the two others:
    # 2 x 2 matrices x 2 x 16 = 128.
    assert limits.read_at_one_position(SMALL, [3]) == 1296 + 432 + 128
    # Twice that, with a dense layer of 4 x 4 (32) and a vocabulary of 10 (80) each.
    assert limits.masked_copies(SMALL, [3], [2]) == 2 * (1856 + 32 + 80)
    # 1 5 6 and 1 5 8 have four tokens, which see 1, 2, 3 and 3: 2 layers x (384 x 4 + 16 x 9), and the head.
    assert limits.read_once(SMALL, [[1, 5, 6], [1, 5, 8]]) == 2 * (384 * 4 + 16 * 9) + 4 * 80


def test_a_missed_target_is_said() -> None:
    kept = Beside("Good, fp32", "peer", 8, 1.0, 2.5, 2.5, 2.0, 0.9, 1e-6, "nats")
    missed = Beside("Bad, fp32", "peer", 8, 1.0, 1.5, 1.5, 2.0, 0.5, 1e-6, "nats", "It rained.")
    lines = report.beside([kept, missed], {"peer": "1"})
    said = lines[lines.index("Missed:") :]
    assert said[2:] == [
        "- Bad, fp32: 1.50 times peer where 2 are asked (-25%). At the limit it would be 3.00: peer "
        "itself reaches 33% of it. It rained.",
        "- Bad, fp32: 50% of the machine's limit where 85% are asked. It rained.",
    ]
    assert "Missed:" not in report.beside([kept], {"peer": "1"})
    ray, plain = Ratio("Two on Ray", "one", 2.0, 3.0), Ratio("Two", "one", 2.0, 3.6)
    assert report.scaled([ray, plain], 1.7)[2:] == [
        "| Two on Ray | one | 2.00 | 3.00 | 1.50 | 1.7 |",
        "| Two | one | 2.00 | 3.60 | 1.80 |  |",
        "",
        "Missed:",
        "",
        "- Two on Ray: 1.50 times one where 1.7 are asked.",
    ]
    assert "Missed:" not in report.scaled([plain, ray], 1.7)
    good, bad = (
        HostCase(name, 9000, 5000, 64, "peer", 1000, 8, 5000 * share, share, 1e-7, "nats")
        for name, share in (("Fast", 0.8), ("Slow", 0.5))
    )
    lines = report.host([good, bad], 0.6)
    assert "| Fast | 9,000 | 5,000 (64) | peer 1,000 (8) | 4,000 | 0.80 | 0.6 | 4.00 | 1.0e-07 nats |" in lines
    assert lines[lines.index("Missed:") :][2:] == ["- Slow: 0.50 of the plain loop where 0.6 are asked."]
    assert "Missed:" not in report.host([good], 0.6)
    assert report.budgets([Budget("Wait", 0.25, 0.5)])[2] == "| Wait | 0.25 s | 0.5 s | 50% |"


def test_a_missed_budget_is_said_with_what_was_measured() -> None:
    lines = report.budgets(
        [
            Budget("Wait", 0.75, 0.5, why="It rained."),
            Budget("Quick", 0.4, 0.5),
            Budget("Frames", 20, 30, "/s", more_is_better=True),
            Budget("More frames", 40, 30, "/s", more_is_better=True),
        ]
    )
    assert lines[lines.index("Missed:") + 2 :] == [
        "- Wait: 0.75 s where 0.5 are asked (+50%). It rained.",
        "- Frames: 20 /s where 30 are asked (-33%).",
    ]
    assert "Missed:" not in report.budgets([Budget("Quick", 0.4, 0.5)])
    assert report.budgets([]) == ["Not measured: there is no Chromium on this machine."]


def test_what_computed_meanwhile_is_counted() -> None:
    processors = ProcessorTime(os.getpid())
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    own = re.fullmatch(
        r"In [\d.e+]+ s the test computed ([\d.]+) s and everything else on the machine [\d.e+]+ s, on "
        r"\d+ cores\.",
        processors.words("the test"),
    )
    assert own is not None and 0.25 <= float(own[1]) <= 0.6


def test_a_section_that_fails_is_said_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(folder: Path) -> list[Budget]:
        raise RuntimeError("no server")

    monkeypatch.setattr(server_cases, "budgets", failing)
    monkeypatch.setattr(cluster_cases, "budgets", lambda folder: [Budget("Clusters", 1.0, 60.0)])
    assert bench.main(["server", "clusters"]) == 1
    printed = capsys.readouterr().out
    assert "Not measured: server ended with RuntimeError: no server" in printed
    assert "| Clusters | 1 s | 60 s |" in printed
    assert bench.main(["clusters"]) == 0 and bench.main(["sever"]) == 2
    assert "There is no section sever; there are peers, host, cache," in capsys.readouterr().err


def test_without_published_data_the_texts_are_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_models, "SHARED", tmp_path / "absent")
    monkeypatch.setattr(base_models, "JAPANESE_VOCABULARY", tmp_path / "absent" / "vocab.txt")
    monkeypatch.setattr(
        base_models,
        "BertConfig",
        partial(BertConfig, hidden_size=8, num_attention_heads=1, num_hidden_layers=1, intermediate_size=8),
    )
    monkeypatch.setattr(base_models, "GPT2Config", partial(GPT2Config, n_embd=8, n_head=1, n_layer=1))
    pairs = base_models.alignment(tmp_path / "bert")
    assert (len(pairs.texts), pairs.source) == (base_models.N_SENTENCE_PAIRS, "the samples")
    sample = sample_data.sentence_pairs()
    assert pairs.texts[0] == (sample.references[0], sample.candidates[0])
    assert len(set(base_models.titles(tmp_path / "bert").texts)) == base_models.N_TITLES
    assert "no published data" in base_models.texts_used()
    causal = base_models.causal(tmp_path / "gpt2")
    assert causal.texts[0] == (sample_data.minimal_pairs().acceptable[0], sample_data.minimal_pairs().unacceptable[0])
    # transformers 4 knows no TokenizersBackend
    config = json.loads((causal.folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert token_ids(AutoTokenizer.from_pretrained(causal.folder), causal.texts[0][0]) == token_ids(
        AutoTokenizer.from_pretrained(built_in_directory("builtin/gpt2-mini-ja")), causal.texts[0][0]
    )
    assert cluster_cases._documents().n == cluster_cases.N_DOCUMENTS


def test_the_made_up_runs_of_the_pages_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_runs, "N_PAIRS", 70)
    monkeypatch.setattr(stored_runs, "N_POINTS", stored_runs.N_DRAWN)
    monkeypatch.setattr(stored_runs, "MOST_POINTS", 2 * stored_runs.N_DRAWN)
    runs = stored_runs.stored(tmp_path)
    with open_engine(tmp_path, resume=False) as engine:
        results = [engine.runs.result(run) for run in runs]
    assert [len(result.pairs) for result in (results[0], results[2])] == [70, 140] and len(results[1].points) == 2000
    assert len(results[3].points) == 4000 and len(set(runs)) == 4
    assert set(results[2].tokenizers) == set(results[2].settings.models)
