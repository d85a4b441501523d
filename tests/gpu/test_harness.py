"""What `make check-gpu` and `make bench-gpu` run on a card runs to its end on the CPU; without a card they say so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.models.tokenization.encoding import token_ids
from tests.gpu import bench, check, material
from tests.gpu.__main__ import main
from tests.gpu.check import Outcome, deviation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["check-gpu", "bench-gpu"])
def test_without_a_gpu_a_target_says_so_and_ends_well(target: str, tmp_path: Path) -> None:
    results = tmp_path / "RESULTS_GPU.md"
    ended = subprocess.run(
        ["make", target, "NO_VENV=1", f"PYTHON={sys.executable}", f"RESULTS_GPU={results}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert ended.returncode == 0, ended.stderr
    assert "no GPU: torch" in ended.stdout
    assert not results.exists()


def test_every_check_runs_on_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--device", "cpu", "--small"]) == 0, capsys.readouterr().out
    lines = capsys.readouterr().out.splitlines()
    assert not any(line.startswith("FAILED") for line in lines)
    cases = [line for line in lines if line.startswith("ok ")]
    for part in (
        "bert sentence_vectors cls bf16 packing on",
        "bert fill_masks fp32 packing off",
        "bert token_log_likelihoods pll-word-l2r fp32 packing on",
        "bert shared_token_log_likelihoods",
        "gpt2 token_log_likelihoods causal",
        "llama token_similarities",
        "deberta fp32: read without padding: no",
        "gpt2 bf16: read without padding: yes",
        "a batch beyond the memory",
        "one text beyond the memory",
        "three models in the memory of two",
        "memory afterwards: not measured",
    ):
        assert any(part in case for case in cases), part


@pytest.mark.nightly
def test_every_bench_runs_on_the_cpu(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = tmp_path / "RESULTS_GPU.md"
    assert main(["bench", "--device", "cpu", "--small", "--results", str(results)]) == 0
    text = capsys.readouterr().out
    for work in (
        "CLS vectors, BERT-base, 128 tokens | bf16 | on",
        "CLS vectors, BERT-base, lengths of JSTS | fp32 | off",
        "BERTScore, BERT-base, 128 tokens",
        "BERTScore, BERT-base, lengths of JSTS",
        "PLL word-l2r, BERT-base",
        "Log-likelihoods, GPT-2",
        "Log-likelihoods, Llama of",
        "Measured rate of matrix products",
    ):
        assert work in text, work
    for peer in ("sentence-transformers, batches of", "bert_score, batches of", "minicons, batches of"):
        assert peer in text, peer
    assert not results.exists()  # only a card's numbers are kept


def test_a_case_that_fails_is_said_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def outcomes(device: str, *, is_small: bool) -> Iterator[Outcome]:
        yield Outcome("first", "nats 3.0e-01 (at most 1e-04)", False)
        yield Outcome("second", "fine", True)

    monkeypatch.setattr(check, "outcomes", outcomes)
    assert main(["check", "--device", "cpu", "--small"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("FAILED  first: nats 3.0e-01 (at most 1e-04)") == 2  # in its turn and at the end
    assert "1 of 2 cases are right" in " ".join(lines)


def test_differences_by_hand() -> None:
    cpu: list[dict[str, Any]] = [
        {"vectors": np.array([2.0, -4.0]), "n_tokens": 3},
        {"log_likelihoods": np.array([-1.0, -2.0])},
    ]
    card: list[dict[str, Any]] = [
        {"vectors": np.array([2.1, -4.0]), "n_tokens": 3},
        {"log_likelihoods": np.array([-1.0, -2.25])},
    ]
    # 0.1 of the largest number, 4; nats as they are
    assert deviation(cpu, card) == pytest.approx({"vectors": 0.025, "nats": 0.25})
    assert deviation(cpu, cpu) == {"vectors": 0.0, "nats": 0.0}
    assert np.isnan(deviation(cpu, [card[0], {"log_likelihoods": np.array([-1.0, np.nan])}])["nats"])
    with pytest.raises(ValueError, match="shape"):
        deviation(cpu, [card[0], {"log_likelihoods": np.array([-1.0])}])
    with pytest.raises(ValueError, match="No piece"):
        deviation([{"excluded": "too long"}], [{"excluded": "too long"}])
    with pytest.raises(KeyError):
        deviation(cpu, [card[0], {"excluded": "too long"}])


def test_texts_have_the_lengths_that_are_asked() -> None:
    tokenizer = material.masked_tokenizer(600)
    lengths = [3, 24, 128, *material.drawn(material.JSTS_LENGTHS, 50)]
    ids = [token_ids(tokenizer, text) for text in material.masked_texts(lengths, 600)]
    assert [len(row) for row in ids] == lengths
    assert not any(tokenizer.unk_token_id in row for row in ids)
    causal = material.causal_tokenizer(600)
    for first, second in material.minimal_pairs(50, 600):
        a, b = token_ids(causal, first), token_ids(causal, second)
        assert len(a) == len(b) in material.BLIMP_LENGTHS
        assert sum(x != y for x, y in zip(a, b, strict=True)) == 1


def test_the_histograms_are_those_they_name() -> None:
    assert sum(material.JSTS_LENGTHS.values()) == 2 * 1457  # sentences of JSTS's validation pairs
    assert sum(material.BLIMP_LENGTHS.values()) == 2 * sum(material.BLIMP_SHARED.values())


def test_the_rate_of_products_is_counted_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr("tests.gpu.bench.time.perf_counter", lambda: float(next(ticks)))
    # a product of 4 x 4 matrices is 2 x 64 operations, here in a second
    assert bench.matrix_rate("cpu", torch.float32, 4) == 128.0
