"""A million pairs of short sentences: read from a file, scored from a cache that was made up, opened and toggled.

No model computes: the pieces of all sentences are put into the cache as the tokenizer cuts them, with log-likelihoods
that are drawn. It is no part of the other sections: it takes a quarter of an hour and some gigabytes of disk.
HAKARI_BENCH_SHARE takes a share of the rows.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from engine.datasets import reader_process
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.records import Settings
from engine.inference import keys
from engine.inference.scoring_settings import scoring_settings
from engine.models.sources.facts import ModelFacts
from engine.precision import resolved
from engine.runs.computing import open_computing
from tests.benchmarks.base_models import SHARE
from tests.benchmarks.measuring import Budget, ProcessorTime
from tests.benchmarks.server_cases import _ended as ended
from tests.benchmarks.server_cases import _submit as submit
from tests.benchmarks.streamlit_client import Visitor
from tests.browser.server import Server, serving

N_PAIRS = max(1000, int(1_000_000 * SHARE))
READ_SECONDS, OPEN_SECONDS, TOGGLE_SECONDS = 60.0, 5.0, 2.0
READER_MIB, PROCESS_MIB = reader_process.MEMORY_MB, 2e9 / 2**20
VOCABULARY, STORED = 3000, 20_000  # tokens; pieces that are stored at once
NORMALIZATION = "minimal-pairs-normalization"
SUBJECTS = ("the dog", "a teacher", "my friend", "the child", "our uncle", "the old man", "a girl", "this cat")
VERBS = ("see", "like", "paint", "find", "visit", "help", "call", "know", "draw", "hear")
OBJECTS = ("birds", "houses", "a bridge", "two cars", "trees", "old books", "the sea", "rivers", "tables", "maps")


# As a command reads: seconds; then MiB that the process forked for it had at most, beyond what this one has.
READ = """
import sys, time
from pathlib import Path
from engine.datasets import reader_process
from engine.datasets.minimal_pairs.files import read_pairs
def mib(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))
def most_read(sources):
    pairs = read_pairs(sources)
    return mib("VmHWM:") if len(pairs) else 0.0
path = Path(sys.argv[1])
before, most = mib("VmRSS:"), reader_process.read(most_read, [(path.name, path)])
start = time.perf_counter()
reader_process.read(read_pairs, [(path.name, path)])
print(time.perf_counter() - start, most - before)
"""


def budgets(folder: Path) -> list[Budget]:
    """Seconds and memory of each step, beside what is asked of it."""
    data_dir, path = folder / "million", folder / "million.csv"
    written(path)
    reading = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
    read_seconds, reader_mib = map(float, reading.stdout.split())
    pairs = reader_process.read(read_pairs, [(path.name, path)])
    model = str(made_model(folder / "made-up-gpt2", pairs))
    fill(data_dir, model, pairs)
    with serving(data_dir) as server:
        processors = ProcessorTime(server.process.pid)
        with memory_of_children(server.process.pid) as of_run:
            run_id = submit(data_dir, "minimal-pairs", Settings((model,)), pairs)
            run = asyncio.run(ended(data_dir, run_id))
        why_run = processors.words("the server, the run's process included,")
        processors = ProcessorTime(server.process.pid)
        open_seconds, toggle_seconds = asyncio.run(visited(server, run_id))
        why_page = processors.words("the server")
        web_mib = psutil.Process(server.process.pid).memory_info().rss / 2**20
    if run.started is None or run.finished is None:
        raise RuntimeError(f"the run has no times: {run}")
    run_seconds = (run.finished - run.started).total_seconds()
    what = f"{N_PAIRS:,} pairs of short sentences"
    return [
        Budget(f"{what} read from a CSV of {path.stat().st_size / 2**20:.0f} MiB", read_seconds, READ_SECONDS),
        Budget("Memory of the reader's process beyond what it starts with", reader_mib, READER_MIB, "MiB"),
        Budget(f"{what}, from cached pieces to a stored result", run_seconds, 10 * N_PAIRS / 67_000, why=why_run),
        Budget("Memory of the run's process, at most", max(of_run, default=0.0), PROCESS_MIB, "MiB"),
        Budget("That run opened by its link", open_seconds, OPEN_SECONDS, why=why_page),
        Budget("Another normalisation, the whole page drawn", toggle_seconds, TOGGLE_SECONDS, why=why_page),
        Budget("Memory of the web process then", web_mib, PROCESS_MIB, "MiB"),
    ]


def written(path: Path) -> None:
    """A table of pairs of which none occurs twice: subject, verb, object and a number."""
    draw = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write("acceptable,unacceptable,category\n")
        for number in range(N_PAIRS):
            subject, verb, object_ = draw.choice(SUBJECTS), draw.choice(VERBS), draw.choice(OBJECTS)
            end = f"{object_} {number:x}."
            file.write(f"{subject} {verb}s {end},{subject} {verb} {end},c{number % 67}\n")


def made_model(folder: Path, pairs: MinimalPairs) -> Path:
    """A causal model of one layer, whose tokenizer is trained on some of the sentences: eight tokens a sentence."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    learner.train_from_iterator(
        pairs.acceptable[:50_000],
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=["<|endoftext|>"],
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learner, bos_token="<|endoftext|>", eos_token="<|endoftext|>", model_max_length=64
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    end = tokenizer.eos_token_id
    GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=64,
            n_embd=16,
            n_layer=1,
            n_head=2,
            bos_token_id=end,
            eos_token_id=end,
        )
    ).save_pretrained(folder)
    return folder


def fill(data_dir: Path, model: str, pairs: MinimalPairs) -> None:
    """Put a piece of each sentence into the cache of a data directory."""
    data_dir.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
    random_numbers = np.random.default_rng(0)
    with open_computing(data_dir) as computing:
        cache = computing.gateway.cache
        assert cache is not None
        facts: ModelFacts = computing.gateway.session("fill").describe(model)
        precision = resolved("auto", facts.dtype, facts.device)
        settings = scoring_settings(facts, "causal", precision, words="auto", prefix="auto", leading_space=False)
        texts = iter(pairs.sentences)
        while part := list(islice(texts, STORED)):
            found = tokenizer.encode_batch(part, add_special_tokens=False)
            cache.put_many(
                {
                    key: {
                        "tokens": encoded.tokens,
                        "n_unknown": 0,
                        "ids": np.array(encoded.ids, dtype=np.int32),
                        "spans": np.array(encoded.offsets, dtype=np.int32),
                        "log_likelihoods": -random_numbers.gamma(2, 3, len(encoded.ids)).astype(np.float32),
                        "read_ids": np.array([0, *encoded.ids], dtype=np.int32),
                    }
                    for key, encoded in zip(
                        keys.item_keys("token_log_likelihoods", facts, settings, part), found, strict=True
                    )
                }
            )


async def visited(server: Server, run_id: str) -> tuple[float, float]:
    """Seconds until a run is drawn that is opened by its link, and until it is under another normalisation."""
    visitor = Visitor(server.url.removeprefix("http://"), "minimal_pairs", run_id=run_id)
    start = time.perf_counter()
    await visitor.connect()
    opened = time.perf_counter() - start
    toggles = []
    key = next(key for key in visitor.seen_keys if key.startswith(NORMALIZATION))
    for score in ("MeanLP", "PenLP", "LP"):
        start = time.perf_counter()
        await visitor.choose(key, score)
        toggles.append(time.perf_counter() - start)
    await visitor.close()
    return opened, sorted(toggles)[1]


@contextmanager
def memory_of_children(pid: int) -> Iterator[list[float]]:
    """The resident memory of every process that a process starts meanwhile, in MiB, read again and again."""
    seen: list[float] = []
    parent, stopped = psutil.Process(pid), threading.Event()
    before = {child.pid for child in parent.children(recursive=True)}

    def watch() -> None:
        while not stopped.wait(0.02):
            for child in parent.children(recursive=True):
                try:
                    if child.pid not in before:
                        seen.append(child.memory_info().rss / 2**20)
                except psutil.Error:  # it has just ended
                    continue

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield seen
    finally:
        stopped.set()
        watching.join()
