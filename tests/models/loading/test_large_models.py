"""A model of a billion parameters: the peak memory of the process that loads and asks it, against its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from tests.models.loading import random_llama

BILLION = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "tie_word_embeddings": False,
}
NEEDED = 8 * 2**30
# Run in a process of its own: what it held before the model was read, and the most that it ever held.
SCRIPT = """
import json, sys
from pathlib import Path
from engine.models.loading.model_cache import ModelCache
from engine.models.scoring import causal_lm, sentence_vectors

def held(field):
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[field].split()[0]) * 1024

cache = ModelCache()
cache.describe(sys.argv[1], None)
before = held("VmRSS")
loaded = cache.load(sys.argv[1], None, "causal", sys.argv[2])
after_loading = held("VmHWM")
[piece] = causal_lm.token_log_likelihoods(loaded, ["The cat sleeps."])
[vector] = sentence_vectors.sentence_vectors(cache.load(sys.argv[1], None, "encode", sys.argv[2]), ["The cat"],
                                             layers=[22], pooling="mean")
print(json.dumps({"before": before, "after_loading": after_loading, "peak": held("VmHWM"), "anonymous": held("RssAnon"),
                  "finite": bool(abs(piece["log_likelihoods"]).max() < 1e3 and abs(vector["vectors"]).max() < 1e3),
                  "models": cache.contents()}))
"""


@pytest.mark.skipif(psutil.virtual_memory().available < NEEDED, reason="less than 8 GiB of memory are free")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_a_model_of_a_billion_parameters_takes_its_file_and_little_more(tmp_path: Path) -> None:
    folder = random_llama.save(tmp_path / "llama", torch.bfloat16, **BILLION)
    file_bytes = (folder / "model.safetensors").stat().st_size
    assert file_bytes > 2 * 10**9
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), "bf16"],
        env=os.environ | {"HAKARI_DEVICE": "cpu", "HAKARI_MODEL_MEMORY_GB": "6"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    measured = json.loads(answer.stdout.splitlines()[-1])
    assert measured["finite"]
    assert measured["peak"] - measured["before"] <= 1.2 * file_bytes
    assert measured["peak"] - measured["before"] >= 0.9 * file_bytes  # all of it was read
    # One copy serves both tasks, and it is the file's own pages: nothing of its size was allocated.
    [model] = measured["models"]
    assert model["task"] == "causal, encode" and model["precision"] == "bf16"
    assert model["bytes"] == pytest.approx(file_bytes, rel=0.001)
    assert measured["anonymous"] - measured["before"] < 0.3 * file_bytes
