"""What follows a context against a plain loop over transformers' model, however it is tokenized and batched."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.errors import ModelError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import probes
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.scoring.prompted import continuations
from engine.models.scoring.prompted.continuations import continuation_log_likelihoods
from tests.support import tiny_models

BEFORE = "The match was rare.\n\n"
QUESTION = "Is it right? The cat sleeps in the garden.\nAnswer:"
CHAT = (
    "{{ '<|endoftext|>' }}{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("byte-level"))


@pytest.fixture(scope="module")
def byte_level(folder: Path) -> LoadedModel:
    return load(str(folder), "causal")


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.gpt2_unigram(tmp_path_factory.mktemp("unigram"))), "causal")


def by_loop(folder: Path, before: list[int], after: list[int]) -> float:
    """log p of ids after others, one pass of transformers' own model in float64."""
    model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    with torch.no_grad():
        log_p = torch.log_softmax(model(torch.tensor([[*before, *after]])).logits[0], -1)
    return float(sum(log_p[len(before) + i - 1, token] for i, token in enumerate(after)))


def test_a_sentence_after_the_beginning_of_a_template_with_and_without_an_end(
    folder: Path, byte_level: LoadedModel
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    sentences = ("The cat sleeps quietly.", "She will go.", "books books books rain")
    for end in ("", "\nIt is a sentence."):
        pieces = continuation_log_likelihoods(byte_level, [(BEFORE, sentence + end) for sentence in sentences])
        for sentence, piece in zip(sentences, pieces, strict=True):
            before, after = (tokenizer(text)["input_ids"] for text in (BEFORE.rstrip(), "\n\n" + sentence + end))
            assert tokenizer(BEFORE + sentence + end)["input_ids"] == before + after
            assert piece["log_likelihoods"] == pytest.approx([by_loop(folder, [0, *before], after)], abs=1e-4)
            assert piece["n_tokens"].tolist() == [len(after)] and piece["log_likelihoods"].dtype == np.float64


def test_without_a_template_it_is_the_log_likelihood_of_the_sentence(
    byte_level: LoadedModel, unigram: LoadedModel
) -> None:
    for loaded, texts in ((byte_level, tiny_models.ENGLISH), (unigram, tiny_models.JAPANESE)):
        for prefix in (None, ()):
            plain = token_log_likelihoods(loaded, texts, prefix=prefix)
            pieces = continuation_log_likelihoods(loaded, [("", text) for text in texts], prefix=prefix)
            for piece, of_plain in zip(pieces, plain, strict=True):
                assert piece["log_likelihoods"][0] == pytest.approx(of_plain["log_likelihoods"].sum(), abs=1e-4)
                assert piece["n_tokens"].tolist() == [len(of_plain["ids"])]


def test_answers_of_one_and_of_several_tokens(folder: Path, byte_level: LoadedModel) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for answers in ((" Yes", " No"), ("!", "?"), (" cat", " rain and cat", "?"), (" c", " cat")):
        [piece] = continuation_log_likelihoods(byte_level, [(QUESTION, *answers)])
        before = tokenizer(QUESTION)["input_ids"]
        for answer, found, n_tokens in zip(answers, piece["log_likelihoods"], piece["n_tokens"], strict=True):
            ids = tokenizer(QUESTION + answer)["input_ids"]
            assert ids[: len(before)] == before and n_tokens == len(ids) - len(before)
            assert found == pytest.approx(by_loop(folder, [0, *before], ids[len(before) :]), abs=1e-4)
    assert len(tokenizer(" Yes")["input_ids"]) > 1 == len(tokenizer("!")["input_ids"])


def test_answers_of_one_token_each_need_one_sequence(byte_level: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    whole = continuations.sequence_scores
    monkeypatch.setattr(
        continuations, "sequence_scores", lambda loaded, read: (asked.append(len(read)), whole(loaded, read))[1]
    )
    continuation_log_likelihoods(byte_level, [(QUESTION, "!", "?"), (QUESTION, " Yes", "?"), (QUESTION, " Yes", " No")])
    assert asked == [1 + 1 + 2]


def test_answers_whose_tokens_reach_back_into_the_question_are_given_the_same_ids(
    folder: Path, byte_level: LoadedModel
) -> None:
    """ " th" and "e" are one token and " th" and "x" two, so both are scored from there."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    question = "He sleeps in th"
    joined, apart = (tokenizer(question + answer)["input_ids"] for answer in ("e", "x"))
    common = next(i for i, (one, other) in enumerate(zip(joined, apart, strict=False)) if one != other)
    assert common < len(tokenizer(question)["input_ids"])
    for answers in (("e", "x"), ("x", "e")):
        [piece] = continuation_log_likelihoods(byte_level, [(question, *answers)])
        expected = [
            by_loop(folder, [0, *ids[:common]], ids[common:])
            for ids in (tokenizer(question + answer)["input_ids"] for answer in answers)
        ]
        assert piece["log_likelihoods"] == pytest.approx(expected, abs=1e-4)


def test_a_chat_template_by_hand(folder: Path, byte_level: LoadedModel) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    loaded = dataclasses.replace(byte_level, tokenizer=AutoTokenizer.from_pretrained(folder))
    loaded.tokenizer.chat_template = CHAT
    [piece] = continuation_log_likelihoods(loaded, [("Is it right?", "Yes", "No")], chat="digest")
    before = [0, *tokenizer("user: Is it right?\nassistant:")["input_ids"]]
    ids = [[0, *tokenizer(f"user: Is it right?\nassistant: {answer}")["input_ids"]] for answer in ("Yes", "No")]
    assert all(of_answer[: len(before)] == before for of_answer in ids)
    expected = [by_loop(folder, before, of_answer[len(before) :]) for of_answer in ids]
    assert piece["log_likelihoods"] == pytest.approx(expected, abs=1e-4)


def test_a_chat_template_that_writes_todays_date_writes_the_same_on_any_day(
    folder: Path, byte_level: LoadedModel
) -> None:
    loaded = dataclasses.replace(byte_level, tokenizer=AutoTokenizer.from_pretrained(folder))
    items = [("Is it right?", "Yes", "No")]
    loaded.tokenizer.chat_template = (
        "\n{% macro day() %}{{ strftime_now('%d %b') }}{% endmacro %}{% if strftime_now is defined %}"
        "{{ day() + strftime_now(' %Y') }}{% endif %} {{ messages[0]['content'] }} "
    )
    [of_today] = continuation_log_likelihoods(loaded, items, chat="digest")
    loaded.tokenizer.chat_template = "\n26 Jul 2024 {{ messages[0]['content'] }} "
    [of_the_day] = continuation_log_likelihoods(loaded, items, chat="digest")
    np.testing.assert_array_equal(of_today["log_likelihoods"], of_the_day["log_likelihoods"])


@pytest.mark.parametrize(
    ("template", "said"),
    [("{{ raise_exception('A system speaks first') }}", "A system speaks first"), ("{% for %}", "TemplateSyntaxError")],
)
def test_a_chat_template_that_refuses_a_question_is_named(
    folder: Path, byte_level: LoadedModel, template: str, said: str
) -> None:
    loaded = dataclasses.replace(byte_level, tokenizer=AutoTokenizer.from_pretrained(folder))
    loaded.tokenizer.chat_template = template
    with pytest.raises(ModelError, match=f"The chat template of .* does not write a question.*{said}"):
        continuation_log_likelihoods(loaded, [("Is it right?", "Yes", "No")], chat="digest")


def test_a_text_beside_others_and_alone_and_on_a_model_of_plain_rows(
    byte_level: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [(BEFORE, text) for text in tiny_models.ENGLISH] + [(QUESTION, " Yes", "!", " No, never")] * 2
    together = continuation_log_likelihoods(byte_level, items)
    for item, piece in zip(items, together, strict=True):
        [alone] = continuation_log_likelihoods(byte_level, [item])
        assert alone["log_likelihoods"] == pytest.approx(piece["log_likelihoods"], abs=1e-5)
    monkeypatch.setattr("engine.models.scoring.causal_lm.batching_of", lambda model: "equal lengths")
    for piece, plain in zip(together, continuation_log_likelihoods(byte_level, items), strict=True):
        assert plain["log_likelihoods"] == pytest.approx(piece["log_likelihoods"], abs=1e-5)
    assert probes.batching_of(byte_level.model) == "any"


def test_what_cannot_be_scored_is_left_out_in_words(byte_level: LoadedModel) -> None:
    long, empty, nothing, fine = continuation_log_likelihoods(
        byte_level, [(BEFORE, "cat " * 70), ("", ""), ("", "Yes", "No"), (BEFORE, "cat")], prefix=()
    )
    assert "takes at most 64" in str(long["excluded"]) and long["n_tokens"] > 64
    assert str(empty["excluded"]) == str(nothing["excluded"]) == "It has no token to score."
    assert "excluded" not in fine
