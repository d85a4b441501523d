"""Processes that tokenize: the tokens of the tokenizer itself, also after one was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InputError, RunError
from engine.models.sources.recipes import Recipe
from engine.models.tokenization import token_cache, tokenizing_processes
from engine.models.tokenization.offsets import offsets_of_each
from engine.models.tokenization.probe_texts import probe_texts
from engine.models.tokenization.token_cache import TokenCache
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from engine.models.tokenization.tokenizing_processes import MIN_TEXTS, TokenizingProcesses, n_processes
from tests.support import tiny_models
from tests.support.layouts import papers as paper_layouts
from tests.waiting import alive, wait_until

TEXTS = [*probe_texts()[:MIN_TEXTS], "[MASK] a [SEP]", ""]
RECIPE = Recipe(segmenter="mecab-ipadic", vocabulary="wordpiece", normalize=("nfkc",))


@pytest.fixture(scope="module")
def processes() -> Iterator[TokenizingProcesses]:
    processes = TokenizingProcesses(2)
    yield processes
    processes.close()


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_tokenizer(tiny_models.bert_japanese(tmp_path_factory.mktemp("bert") / "model"))


def ready(processes: TokenizingProcesses, tokenizer: Any) -> None:
    wait_until(lambda: processes.offsets(tokenizer, TEXTS) is not None)


@pytest.mark.parametrize("control", [(), ("[MASK]",)])
def test_the_tokens_are_the_tokenizers_own(
    processes: TokenizingProcesses, japanese: Any, tmp_path: Path, control: tuple[str, ...]
) -> None:
    ready(processes, japanese)
    by_recipe = load_tokenizer(paper_layouts.japanese_bert(tmp_path / "recipe"), RECIPE)
    for tokenizer in (japanese, by_recipe):
        assert processes.offsets(tokenizer, TEXTS, control) == offsets_of_each(tokenizer, TEXTS, control=control)


def test_no_text_waits_for_a_process_that_starts(japanese: Any) -> None:
    processes = TokenizingProcesses(1)
    try:
        assert processes.offsets(japanese, TEXTS) is None and len(processes.pids()) == 1
    finally:
        processes.close()


def test_a_process_that_was_killed_is_replaced(processes: TokenizingProcesses, japanese: Any) -> None:
    ready(processes, japanese)
    expected, before = offsets_of_each(japanese, TEXTS), processes.pids()
    os.kill(before[0], signal.SIGKILL)
    assert processes.offsets(japanese, TEXTS) == expected
    assert processes.pids()[0] != before[0] and processes.pids()[1] == before[1]


def test_a_tokenizer_whose_files_changed_is_not_read_again(processes: TokenizingProcesses, tmp_path: Path) -> None:
    folder = tiny_models.bert_japanese(tmp_path / "model")
    before = load_tokenizer(folder)
    ready(processes, before)
    vocabulary = next(folder.glob("vocab.txt"))
    words = [*vocabulary.read_text(encoding="utf-8").split(), "猫が"]
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    assert processes.offsets(before, TEXTS) is None  # it is computed with what was loaded
    after = load_tokenizer(folder)
    assert processes.offsets(after, TEXTS) == offsets_of_each(after, TEXTS)


def test_two_threads_share_the_processes(processes: TokenizingProcesses, japanese: Any) -> None:
    ready(processes, japanese)
    expected = offsets_of_each(japanese, TEXTS)
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(processes.offsets(japanese, TEXTS))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert answers == [expected] * 3


@pytest.mark.nightly
def test_texts_that_end_every_process_are_an_error_and_nothing_hangs(
    japanese: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tokenizing_processes,
        "_CHILD",
        tokenizing_processes._CHILD.replace(
            "serve; serve()", "_write, _read; import sys; _write(sys.stdout.buffer, b''); _read(sys.stdin.buffer)"
        ),
    )
    processes = TokenizingProcesses(2)
    try:
        with pytest.raises(RunError, match="ended 2 times on the same texts"):
            wait_until(lambda: processes.offsets(japanese, TEXTS) is not None)
    finally:
        processes.close()


@pytest.mark.nightly
def test_the_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    program = (
        "import sys, time; from engine.models.tokenization.tokenizing_processes import TokenizingProcesses\n"
        "processes = TokenizingProcesses(2); processes._are_ready(); print(*processes.pids(), flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2 and all(map(alive, pids))
    parent.kill()
    parent.communicate()
    for pid in pids:
        wait_until(lambda pid=pid: not alive(pid))  # type: ignore[misc]


def test_few_texts_and_rust_tokenizers_stay_in_the_process(
    processes: TokenizingProcesses, japanese: Any, tmp_path: Path
) -> None:
    ready(processes, japanese)
    rust = load_tokenizer(tiny_models.bert(tmp_path / "bert"))
    assert processes.offsets(japanese, TEXTS[: MIN_TEXTS - 1]) is None and processes.offsets(rust, TEXTS) is None
    assert TokenizingProcesses(0).offsets(japanese, TEXTS) is None


def test_the_cache_gives_what_the_processes_have_tokenized(
    processes: TokenizingProcesses, japanese: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(processes, japanese)
    plain = TokenCache()
    expected_ids, expected_spans = plain.token_ids(japanese, TEXTS), plain.spans(japanese, TEXTS)
    monkeypatch.setattr(token_cache, "_processes", lambda: processes)
    monkeypatch.setattr(token_cache, "token_ids_of_each", None)  # to call it is an error
    cache = TokenCache()
    assert cache.token_ids(japanese, TEXTS) == expected_ids
    for spans, expected in zip(cache.spans(japanese, TEXTS), expected_spans, strict=True):
        assert (spans.ids, spans.tokens, spans.spans.tolist(), spans.words.tolist()) == (
            expected.ids,
            expected.tokens,
            expected.spans.tolist(),
            expected.words.tolist(),
        )


def test_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_WORKERS", raising=False)
    for n_cores, expected in ((2, 0), (3, 0), (4, 2), (16, 8), (64, 8)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, n=n_cores: set(range(n - pid)), raising=False)
        assert n_processes() == expected
    monkeypatch.setenv("HAKARI_WORKERS", "16")
    assert n_processes() == 2
    monkeypatch.setenv("HAKARI_TOKENIZERS", "3")
    assert n_processes() == 3
    monkeypatch.setenv("HAKARI_TOKENIZERS", "many")
    with pytest.raises(InputError, match="HAKARI_TOKENIZERS is a number of processes"):
        n_processes()
