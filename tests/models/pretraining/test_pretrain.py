"""Pretraining, on a corpus of a few template sentences and models of one narrow layer."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, BertJapaneseTokenizer

from engine.datasets.corpora.corpus import Document
from engine.errors import InputError
from engine.models.pretraining.objective import IGNORED, collator, held_out_numbers, loss, spread_positions
from engine.models.pretraining.pretrain import pretrain
from engine.models.pretraining.rows import RowFormat, Steps, write_rows
from engine.models.pretraining.settings import Settings
from engine.models.pretraining.texts import is_held_out
from engine.models.pretraining.tokenizers import fast_encoder, train_unigram, train_wordpiece
from engine.models.pretraining.work_directory import last_complete_checkpoint

PLACES = ["公園", "図書館", "駅前の喫茶店", "川のほとり", "山のふもと", "古い港町"]
PEOPLE = ["祖母", "先生", "若い画家", "となりの少年", "旅の商人", "パン屋の主人"]
DEEDS = ["ゆっくりと歩いていた", "手紙を読み返した", "空を見上げて笑った", "雨がやむのを待った", "小さな歌を口ずさんだ"]
TINY = Settings(
    "bert",
    vocab_size=420,
    layers=1,
    hidden=32,
    heads=2,
    max_length=64,
    tokens_per_step=512,
    steps=12,
    warmup_steps=2,
    vocabulary_every=1,
    held_out_share=0.3,
    held_out_tokens=2000,
    precision="fp32",
)


def sentences() -> list[str]:
    return [f"{person}は{place}で{deed}。" for person, place, deed in itertools.product(PEOPLE, PLACES, DEEDS)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for i in range(12):
        (folder / f"story-{i:02}.txt").write_text("\n".join(sentences()[i::3]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def bert(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "tiny-bert"
    pretrain([corpus], out, TINY, report=lambda line: None, save_every=100, evaluate_every=6, command="by test")
    return out


def test_rows_by_hand(tmp_path: Path) -> None:
    # One id per character. Long rows of 32 hold [CLS] 30 ids [SEP], short ones of 4 [CLS] 2 ids [SEP].
    # あい。 (3 ids) fill no short row with another sentence; う。 + え。 would be 4 ids: one row each.
    encode = {c: i for i, c in enumerate("あいうえ。", start=10)}
    form = RowFormat(opening=1, closing=2, padding=0, max_length=32, closes_row=True)
    documents = [Document("a", "あい。う。え。"), Document("b", "い。" * 13)]
    write_rows(documents, lambda text: [encode[c] for c in text], form, tmp_path)
    (short, long) = (np.fromfile(tmp_path / f"{kind}.bin", np.uint16) for kind in ("short", "long"))
    assert short.reshape(-1, 4)[:3].tolist() == [[1, 10, 11, 2], [1, 12, 14, 2], [1, 13, 14, 2]]
    # 7 ids, the document's closing id, then い。 eleven times: 30 ids. Nothing is cut.
    assert long.reshape(-1, 32).tolist() == [[1, 10, 11, 14, 12, 14, 13, 14, 2, *[11, 14] * 11, 2]]


def test_the_sentence_cut_at_the_end_of_a_row_opens_the_next(tmp_path: Path) -> None:
    form = RowFormat(opening=1, closing=2, padding=0, max_length=16, closes_row=True)
    text = "あ" * 9 + "。" + "い" * 9 + "。" + "う" * 9 + "。"
    write_rows([Document("a", text)], lambda text: [ord(c) % 97 + 3 for c in text], form, tmp_path)
    rows = np.fromfile(tmp_path / "long.bin", np.uint16).reshape(-1, 16).tolist()
    a, i, u, stop = (ord(c) % 97 + 3 for c in "あいう。")
    assert rows == [[1, *[a] * 9, stop, *[i] * 4, 2], [1, *[i] * 9, stop, *[u] * 4, 2]]


def test_steps_are_of_one_size_short_ones_first_and_repeat_no_row(tmp_path: Path) -> None:
    form = RowFormat(1, 2, 0, max_length=32, closes_row=True)
    text = "\n".join(f"{'あ' * (i % 9 + 1)}。" for i in range(3000))
    write_rows([Document("a", text)], lambda text: [len(text)] * len(text), form, tmp_path)
    steps = Steps(tmp_path, tokens_per_step=64, n_steps=20, short_share=0.4, seed=3)
    assert [steps[i].shape for i in range(20)] == [(16, 4)] * 8 + [(2, 32)] * 12
    assert steps._plan[0][1].tolist() != sorted(steps._plan[0][1])  # drawn, not in file order
    for kind in ("short", "long"):
        drawn = np.concatenate([rows for found, rows in steps._plan if found == kind])
        assert len(set(drawn)) == len(drawn)


def test_held_out_documents_are_chosen_by_name_and_seed() -> None:
    names = [f"novel-{i}" for i in range(20_000)]
    kept = [is_held_out(name, TINY) for name in names]
    # binomial(20000, 0.3) has a standard deviation of 65: 0.3 +- 0.02 is six of them
    assert abs(np.mean(kept) - 0.3) < 0.02
    assert kept != [is_held_out(name, replace(TINY, seed=1)) for name in names]


@pytest.mark.parametrize(
    "text", ["祖母は公園でゆっくりと歩いていた。", "ｶﾞｷﾞ 😀と Ｃａｔ", "未知の驫", "　", "雨がやむ  のを"]
)
def test_the_corpus_encoder_equals_the_tokenizer(bert: Path, text: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(bert)
    assert isinstance(tokenizer, BertJapaneseTokenizer)
    assert fast_encoder(tokenizer)(text) == tokenizer.encode(text, add_special_tokens=False)


def test_a_unigram_tokenizer_spells_every_text_back(tmp_path: Path) -> None:
    train_unigram(iter(sentences()), 420, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for text in ["祖母は駅前の喫茶店で笑った。", "驫という字は知らない", "emoji 😀!"]:
        ids = tokenizer(text)["input_ids"]
        assert ids[0] == tokenizer.bos_token_id and tokenizer.unk_token_id not in ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_a_vocabulary_does_not_depend_on_chance(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        train_wordpiece(iter(sentences()), 300, tmp_path / folder)
    assert (tmp_path / "a" / "vocab.txt").read_bytes() == (tmp_path / "b" / "vocab.txt").read_bytes()


def test_characters_as_frequent_as_the_last_one_kept_are_kept_by_code_point(tmp_path: Path) -> None:
    rare = "鯨鰯鮪鯛鱈鮭鱒鰻鯉鮒鰹鱸鯖鰊鯵鱧鮎鯊鰤鮫"
    # Each stands once in 3,020 characters, of which 0.9985 are 山 and 16 others.
    tokenizer = train_wordpiece(iter(["山" * 5] * 600 + list(rare)), 300, tmp_path)
    assert set("".join(tokenizer.get_vocab())) & set(rare) == set(sorted(rare)[:16])


def test_a_model_is_trained_saved_in_half_precision_and_loads(bert: Path) -> None:
    model = AutoModelForMaskedLM.from_pretrained(bert)
    record = json.loads((bert / "pretraining.json").read_text(encoding="utf-8"))
    assert json.loads((bert / "config.json").read_text())["dtype"] == "float32"
    assert record["parameters"] == model.num_parameters()
    # After 12 steps the loss must have left that of guessing evenly among 420 pieces: ln 420 = 6.04.
    assert record["held_out"]["masked_nats"] < 5.8
    assert "never trained on" in (bert / "README.md").read_text(encoding="utf-8")
    assert not (bert / "work").exists()


@pytest.mark.parametrize(("name", "replace_share"), [("masked", 0.8), ("mask_only", 1.0)])
def test_the_held_out_accuracy_by_hand(bert: Path, tmp_path: Path, name: str, replace_share: float) -> None:
    model = AutoModelForMaskedLM.from_pretrained(bert, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(bert)
    form = RowFormat(tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id, 64, True)
    write_rows([Document("a", "\n".join(sentences()[:40]))], fast_encoder(tokenizer), form, tmp_path)
    rows = Steps(tmp_path, 512, 1, 0.0, 0)
    numbers = held_out_numbers(model, tokenizer, rows, 2000, 0)
    # The same masks, one full forward pass a row, the head at every position.
    masker = collator(tokenizer, seed=0, replace=replace_share)
    right, nats, n = 0, 0.0, 0
    for row in rows.long_rows(2000 // 64):
        batch = masker(torch.from_numpy(row)[None])
        with torch.inference_mode():
            logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits[0].double()
        for position, label in enumerate(batch["labels"][0].tolist()):
            if label != IGNORED:
                assert replace_share < 1 or batch["input_ids"][0, position] == tokenizer.mask_token_id
                right += int(logits[position].argmax() == label)
                nats -= float(logits[position].log_softmax(-1)[label])
                n += 1
    assert numbers[f"n_{name}"] == n and numbers[f"{name}_accuracy"] == right / n
    assert numbers[f"{name}_nats"] == pytest.approx(nats / n, rel=1e-5)  # float32 against float64


def test_held_out_rows_are_spread_over_the_whole_text(tmp_path: Path) -> None:
    form = RowFormat(1, 2, 0, max_length=16, closes_row=True)
    text = "\n".join(f"{i}。" for i in range(100))
    write_rows([Document("a", text)], lambda sentence: [int(sentence[:-1])] * 14, form, tmp_path)
    rows = Steps(tmp_path, 32, 1, 0.0, 0)
    assert rows.long_rows(10)[:, 1].tolist() == list(range(0, 100, 10))  # each sentence fills a row
    assert len(rows.long_rows(1000)) == 100


def test_whole_words_are_masked_together(bert: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(bert)
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    start = next(i for i, piece in enumerate(pieces) if i > 4 and not piece.startswith("##"))
    inside = next(i for i, piece in enumerate(pieces) if piece.startswith("##"))
    word = [start, inside, inside]
    ids = torch.tensor([[tokenizer.cls_token_id, *word * 20, tokenizer.sep_token_id]])
    mask = collator(tokenizer, whole_words=True, seed=5)
    masked = (mask(ids)["labels"] != IGNORED)[0, 1:-1].reshape(20, 3)
    assert 0 < masked.any(1).sum() < 20
    assert (masked.all(1) == masked.any(1)).all()


def test_gpt2_learns_and_its_numbers_are_per_token_and_per_character(corpus: Path, tmp_path: Path) -> None:
    record = pretrain(
        [corpus],
        tmp_path / "gpt",
        replace(TINY, architecture="gpt2", learning_rate=5e-3),
        report=lambda line: None,
        evaluate_every=100,
    )
    held_out = record["held_out"]
    assert held_out["nats_per_token"] < 5.5 < np.log(420)
    # A piece spells at least one character here, so a character costs no more than a token.
    assert held_out["nats_per_character"] < held_out["nats_per_token"]
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "gpt").num_parameters() == record["parameters"]


def test_a_killed_run_goes_on_from_its_last_checkpoint(corpus: Path, bert: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    command = [
        sys.executable,
        "-m",
        "engine",
        "pretrain",
        "--corpus",
        str(corpus),
        "--architecture",
        "bert",
        "--out",
        str(out),
        "--vocab-size",
        "420",
        "--layers",
        "1",
        "--hidden",
        "32",
        "--heads",
        "2",
        "--max-length",
        "64",
        "--tokens-per-step",
        "512",
        "--steps",
        "60",
        "--warmup-steps",
        "2",
        "--vocabulary-every",
        "1",
        "--held-out-share",
        "0.3",
        "--precision",
        "fp32",
        "--save-every",
        "5",
        "--evaluate-every",
        "1000",
        "--held-out-tokens",
        "2000",
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while not list(out.glob("work/checkpoints/checkpoint-*/trainer_state.json")):
        assert process.poll() is None, "ended before its first checkpoint"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert "continuing from step" in done.stderr
    assert json.loads((out / "pretraining.json").read_text())["settings"]["steps"] == 60


def test_an_unfinished_checkpoint_is_passed_over(tmp_path: Path) -> None:
    for step, state in ((5, '{"global_step": 5}'), (10, '{"global_st')):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-15").mkdir()
    assert last_complete_checkpoint(tmp_path) == tmp_path / "checkpoint-5"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-5"]


def test_another_runs_directory_is_refused(corpus: Path, bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="already holds a finished model"):
        pretrain([corpus], bert, TINY)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "settings.json").write_text('{"steps": 7}')
    with pytest.raises(InputError, match="steps: 7 there, 12 now"):
        pretrain([corpus], tmp_path, TINY)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"architecture": "lstm"}, "'bert' or 'gpt2'"),
        ({"architecture": "gpt2", "whole_word_masking": True}, "for BERT"),
        ({"heads": 3}, "multiple of heads"),
        ({"held_out_share": 0.0}, "between 0 and 1"),
        ({"vocab_size": 10}, "vocab_size"),
        ({"keep_vocabulary": True}, "needs --start"),
        ({"architecture": "gpt2", "tokenizer": "character"}, "unigram tokenizer"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    corpus: Path, tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pretrain([corpus], tmp_path / "out", replace(TINY, **changed))  # type: ignore[arg-type]


def test_a_corpus_that_fills_no_step_is_refused(tmp_path: Path) -> None:
    for i in range(8):
        (tmp_path / f"{i}.txt").write_text("\n".join(sentences()[:20]), encoding="utf-8")
    with pytest.raises(InputError, match="too small"):
        pretrain(
            [tmp_path],
            tmp_path / "out",
            replace(TINY, tokens_per_step=1_000_000, vocab_size=300),
            report=lambda line: None,
        )
    assert not (tmp_path / "out").exists()  # nothing is left of a run that was refused


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_the_loss_is_that_of_the_whole_model(corpus: Path, bert: Path, tmp_path: Path, architecture: str) -> None:
    if architecture == "bert":
        model, tokenizer = AutoModelForMaskedLM.from_pretrained(bert), AutoTokenizer.from_pretrained(bert)
    else:
        pretrain([corpus], tmp_path / "gpt", replace(TINY, architecture="gpt2", steps=1), report=lambda line: None)
        model, tokenizer = (kind.from_pretrained(tmp_path / "gpt") for kind in (AutoModelForCausalLM, AutoTokenizer))
    ids = torch.tensor(tokenizer([s * 3 for s in sentences()[:40:8]], padding=True)["input_ids"])
    batch = collator(tokenizer, seed=1)(ids)
    # float32 sums over the positions in parts against transformers' own over all at once
    assert loss(model, batch).item() == pytest.approx(model(**batch).loss.item(), rel=1e-5)


def test_later_positions_repeat_the_learnt_ones() -> None:
    embedding = torch.nn.Embedding.from_pretrained(torch.arange(12.0)[:, None], freeze=False)
    # Short rows of 6: [CLS] at 0, text at 1 to 4, [SEP] at 5 at the latest; from 5 on 1 2 3 4 again and again.
    spread_positions(embedding, 6)
    assert embedding.weight[:, 0].tolist() == [0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3]
