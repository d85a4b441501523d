"""The vocabularies, optimisers and starting points of pretraining, on narrow models."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM

from engine.errors import InputError
from engine.models.pretraining.optimizers import MuonWithAdamW, optimizer
from engine.models.pretraining.pretrain import pretrain
from engine.models.pretraining.settings import Settings
from engine.models.pretraining.texts import Texts
from engine.models.pretraining.tokenizers import fast_encoder, train_characters, train_unigram
from engine.models.pretraining.warm_start import mean_rows, piece_sources, start_from
from tests.models.pretraining.test_pretrain import TINY, sentences

NARROW = BertConfig(
    vocab_size=40,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=16,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for i in range(12):
        (folder / f"story-{i:02}.txt").write_text("\n".join(sentences()[i::3]), encoding="utf-8")
    return folder


def train(corpus: Path, out: Path, **changed: object) -> dict[str, object]:
    return pretrain(
        [corpus],
        out,
        replace(TINY, **changed),
        report=lambda line: None,  # type: ignore[arg-type]
        evaluate_every=100,
    )


def test_characters_are_the_most_frequent_ones_and_the_rest_is_unknown(tmp_path: Path) -> None:
    tokenizer = train_characters(["ああああ", "いいい", "うう", "え"], 5 + 3, tmp_path)
    assert sorted(set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)) == ["あ", "い", "う"]
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.convert_ids_to_tokens(loaded("あえ")["input_ids"]) == ["[CLS]", "あ", "[UNK]", "[SEP]"]
    assert fast_encoder(loaded)("あいえう") == loaded.encode("あいえう", add_special_tokens=False)


def test_a_masked_unigram_opens_closes_and_spells_every_text(tmp_path: Path) -> None:
    train_unigram(iter(sentences()), 420, tmp_path, masked=True)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for text in ("祖母は駅前の喫茶店で笑った。", "驫という字は知らない"):
        ids = tokenizer(text)["input_ids"]
        assert (ids[0], ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        assert tokenizer.unk_token_id not in ids and tokenizer.decode(ids, skip_special_tokens=True) == text
    masked = tokenizer(f"祖母は{tokenizer.mask_token}で笑った。")["input_ids"]
    assert masked.count(tokenizer.mask_token_id) == 1


@pytest.mark.parametrize("kind", ["character", "unigram"])
def test_a_masked_model_of_each_vocabulary_learns(corpus: Path, tmp_path: Path, kind: str) -> None:
    record = train(corpus, tmp_path / kind, tokenizer=kind, steps=24)
    assert record["held_out"]["masked_nats"] < 5.8  # type: ignore[index]  # guessing: ln 420 = 6.04
    assert AutoModelForMaskedLM.from_pretrained(tmp_path / kind).num_parameters() == record["parameters"]
    assert ("characters" if kind == "character" else "Unigram") in (tmp_path / kind / "README.md").read_text("utf-8")


def test_muon_takes_the_matrices_of_the_layers_and_one_schedule_sets_both_rates() -> None:
    torch.manual_seed(0)
    model = BertForMaskedLM(NARROW)
    both = optimizer(model, Settings("bert", learning_rate=0.01))
    assert isinstance(both, MuonWithAdamW)
    # Query, key, value, output and two of the feed-forward in each of two layers.
    assert next(len(group["params"]) for group in both.param_groups) == 6 * 2
    assert sum(len(group["params"]) for group in both.param_groups) == len(list(model.parameters()))
    schedule = torch.optim.lr_scheduler.LambdaLR(both, lambda step: 0.5**step)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    ids = torch.randint(0, 40, (16, 16))
    model(input_ids=ids, labels=ids.flip(1)).loss.backward()
    both.step()
    schedule.step()
    assert [group["lr"] for group in both.param_groups] == [0.005] * len(both.param_groups)
    assert all(part["lr"] == 0.005 for state in both.state_dict().values() for part in state["param_groups"])
    changed = [not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True)]
    assert sum(changed) > 30
    # A step of Muon is an orthogonal matrix times 0.2 sqrt(longer side) times the rate, the decay aside.
    value = model.bert.encoder.layer[1].attention.self.value.weight
    index = next(i for i, parameter in enumerate(model.parameters()) if parameter is value)
    step = (before[index] * (1 - 0.01 * 0.01) - value.detach()) / (0.01 * 0.2 * 32**0.5)
    values = torch.linalg.svdvals(step)
    assert 0.7 < values.median() < 1.2 and values.max() < 1.3  # five iterations bring singular values near 1


def test_the_state_of_both_optimisers_comes_back() -> None:
    torch.manual_seed(0)
    models = [BertForMaskedLM(NARROW).eval() for _ in range(2)]  # without dropout
    models[1].load_state_dict(models[0].state_dict())
    batch = {"input_ids": torch.tensor([[1, 2, 3]]), "labels": torch.tensor([[4, 5, 6]])}
    first = optimizer(models[0], Settings("bert"))
    for step in range(2):
        models[0](**batch).loss.backward()
        first.step()
        first.zero_grad()
        if step == 0:
            models[1].load_state_dict(models[0].state_dict())
            second = optimizer(models[1], Settings("bert"))
            second.load_state_dict(deepcopy(first.state_dict()))
    models[1](**batch).loss.backward()
    second.step()
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_new_piece_starts_from_the_pieces_of_its_text() -> None:
    weight = torch.tensor([[1.0, 0.0], [3.0, 2.0], [5.0, 7.0]])
    assert mean_rows(weight, [[2], [0, 1]]).tolist() == [[5.0, 7.0], [2.0, 1.0]]
    assert mean_rows(weight[:, 0], [[2], [0, 1]]).tolist() == [5.0, 2.0]


def test_a_model_that_starts_from_another_predicts_as_it_did(corpus: Path, tmp_path: Path) -> None:
    train(corpus, tmp_path / "first")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "first")
    old = AutoModelForMaskedLM.from_pretrained(tmp_path / "first", dtype=torch.float32)
    new = BertForMaskedLM(BertConfig(**old.config.to_dict()))
    start_from(new, tokenizer, tmp_path / "first", "bert")
    ids = torch.tensor([tokenizer("祖母は公園で笑った。")["input_ids"]])
    torch.testing.assert_close(new.eval()(input_ids=ids).logits, old.eval()(input_ids=ids).logits)

    record = train(corpus, tmp_path / "second", start=str(tmp_path / "first"), keep_vocabulary=True)
    assert (tmp_path / "second/vocab.txt").read_bytes() == (tmp_path / "first/vocab.txt").read_bytes()
    assert "from first, 12 steps" in (tmp_path / "second/README.md").read_text("utf-8")
    first = train(corpus, tmp_path / "third", steps=24)
    assert record["held_out"]["masked_nats"] < first["held_out"]["masked_nats"] + 0.5  # type: ignore[index]

    train(corpus, tmp_path / "other", start=str(tmp_path / "first"), tokenizer="unigram", steps=1)
    pieces = AutoTokenizer.from_pretrained(tmp_path / "other")
    sources = piece_sources(pieces, tokenizer)
    assert len(sources) == len(pieces) and all(sources)
    for role in ("cls_token_id", "sep_token_id", "mask_token_id", "pad_token_id", "unk_token_id"):
        assert sources[getattr(pieces, role)] == [getattr(tokenizer, role)]
    word = next(
        piece
        for piece in pieces.get_vocab()
        if len(piece) > 4 and piece not in tokenizer.get_vocab() and not piece.startswith("<")
    )
    assert sources[pieces.get_vocab()[word]] == tokenizer.encode(word, add_special_tokens=False)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hidden": 64}, "--hidden 32 there, 64 here"),
        ({"layers": 2}, "--layers 1 there, 2 here"),
        ({"heads": 4}, "--heads 2 there, 4 here"),
        ({"max_length": 128}, "--max-length 64 there, 128 here"),
        ({"architecture": "gpt2"}, "of the architecture 'bert', not 'gpt2'"),
    ],
)
def test_a_start_of_other_layers_is_refused_and_leaves_nothing(
    corpus: Path, tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    train(corpus, tmp_path / "first", steps=1)
    with pytest.raises(InputError, match=message):
        train(corpus, tmp_path / "other", start=str(tmp_path / "first"), **changed)
    assert not (tmp_path / "other").exists()


def test_a_start_that_is_no_model_is_refused_and_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    for content, message in ((None, "no config.json"), ("[", "cannot be started from")):
        if content:
            (tmp_path / "broken" / "config.json").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            train(corpus, tmp_path / "out", start=str(tmp_path / "broken"))
        assert not (tmp_path / "out").exists()


def test_the_positions_of_a_start_stay(corpus: Path, tmp_path: Path) -> None:
    train(corpus, tmp_path / "first")
    train(
        corpus,
        tmp_path / "second",
        start=str(tmp_path / "first"),
        keep_vocabulary=True,
        steps=2,
        learning_rate=1e-9,
        short_share=0.5,
    )
    first, second = (
        AutoModelForMaskedLM.from_pretrained(tmp_path / name, dtype=torch.float32) for name in ("first", "second")
    )
    torch.testing.assert_close(
        second.bert.embeddings.position_embeddings.weight,
        first.bert.embeddings.position_embeddings.weight,
        atol=1e-3,
        rtol=0,
    )


def test_a_folder_of_somebody_else_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="holds other files"):
        train(corpus, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["thesis.txt", "work"]


def test_lines_are_documents_of_their_own_and_the_numbers_are_of_the_corpus(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("".join(f"{n}羽の鳥が飛んだ。\n" for n in range(200)), encoding="utf-8")
    texts = Texts((corpus,), (tmp_path / "lines.txt",), TINY)
    training, held_out = list(texts.training()), list(texts.held_out())
    assert 100 < sum(document.name.startswith("lines.txt:") for document in training) < 180  # 0.3 are held out
    assert held_out and all(document.name.startswith("story-") for document in held_out)
    assert all(document.name.startswith("lines.txt") for document in Texts((), texts.lines, TINY).held_out())


def test_a_file_of_many_documents(tmp_path: Path) -> None:
    (tmp_path / "all.txt").write_text("一。\n\n二。\n二の二。\n \n\n三。", encoding="utf-8")
    texts = Texts((tmp_path / "all.txt",), (), replace(TINY, documents="blank-line", held_out_share=0.0001))
    assert [document.text for document in texts.training()] == ["一。", "二。\n二の二。", "三。"]
