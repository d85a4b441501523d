"""Control tokens written in a text, under every tokenizer of the zoo: plain text, or named where that cannot be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.offsets import control_tokens_read, token_offsets
from engine.models.tokenization.plain_text import control_spellings, reader
from engine.models.tokenization.spans import token_spans
from engine.models.tokenization.token_counts import document_counts
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.models.zoo.kinds import causal, encoders, hybrid, masked
from tests.models.zoo.specimens import ModelKind
from tests.models.zoo.texts import TEXTS
from tests.models.zoo.tokenizer_files.published import Published

# Their vocabulary is searched for control tokens in a step of their own.
NEVER_PLAIN = {"gpt_neox_japanese"}


def _one_kind_of_each_tokenizer() -> list[ModelKind]:
    groups = [getattr(module, name) for module in (causal, encoders, hybrid, masked) for name in dir(module)]
    kinds = [kind for group in groups if isinstance(group, tuple) for kind in group if isinstance(kind, ModelKind)]
    return list({id(kind.tokens): kind for kind in reversed(kinds)}.values())


KINDS = _one_kind_of_each_tokenizer()


@dataclass(frozen=True)
class Written:
    """A tokenizer as the engine loads it, with its files."""

    kind: ModelKind
    folder: Path
    published: Published
    tokenizer: Any

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Every control token with texts that contain it."""
        return [
            (token, text.format(token))
            for token in sorted(control_spellings(self.tokenizer).tokens)[:12]
            for text in ("{}", "猫{}が", "the {} cat", "{} 雨", "rain{}", "{0}{0}")
        ]


@pytest.fixture(scope="module", params=KINDS, ids=[kind.name for kind in KINDS])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("tokenizer")
    published = request.param.tokens(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    return Written(request.param, folder, published, load_tokenizer(folder))


def test_they_are_read_as_text(written: Written) -> None:
    """No control token comes of a text, but for unknown characters, and every character is some token's."""
    tokenizer = written.tokenizer
    control = {tokenizer.convert_tokens_to_ids(token) for token in control_spellings(tokenizer).tokens}
    control -= {tokenizer.unk_token_id}
    for token, text in written.texts:
        ids, spans = token_ids(tokenizer, text), token_spans(tokenizer, text)
        assert spans.ids == ids
        if written.kind.name in NEVER_PLAIN:
            continue
        before, after = written.published.before, written.published.after
        assert ids[: len(before)] == before and ids[len(ids) - len(after) :] == after
        inner = range(len(before), len(ids) - len(after))
        assert not control & {ids[i] for i in inner}, (token, text)
        assert not spans.special[list(inner)].any(), (token, text)
        assert control_tokens_read(tokenizer, text) == [], (token, text)
        covered = {c for i in inner for c in range(*spans.spans[i])}
        assert covered >= {c for c, character in enumerate(text) if not character.isspace()}, (token, text)
        counts = document_counts(tokenizer, [text])
        assert counts["occurrences"].sum() == len(inner), (token, text)


def test_what_is_read_as_control_token_all_the_same_is_named(written: Written) -> None:
    if written.kind.name not in NEVER_PLAIN:
        assert all(control_tokens_read(written.tokenizer, text) == [] for _, text in written.texts)
        return
    assert [control_tokens_read(written.tokenizer, text) for _, text in written.texts] == [
        [token] for token, _ in written.texts
    ]


def test_texts_without_them_are_read_as_before(written: Written) -> None:
    tokenizer = written.tokenizer
    token = sorted(control_spellings(tokenizer).tokens)[0]
    plain = reader(tokenizer, token)
    assert plain is not tokenizer and reader(tokenizer, token) is plain
    for text in TEXTS:
        assert reader(tokenizer, text) is tokenizer
        expected = tokenizer(text)["input_ids"]
        assert token_ids(tokenizer, text) == expected == list(plain(text)["input_ids"])
        assert token_offsets(tokenizer, text).ids == expected


def test_they_are_control_tokens_where_that_is_asked_for(written: Written) -> None:
    tokenizer = written.tokenizer
    for token, text in written.texts:
        assert token_ids(tokenizer, text, control=[token]) == tokenizer(text)["input_ids"]
        assert token_ids(tokenizer, text, control=control_spellings(tokenizer).tokens) == tokenizer(text)["input_ids"]


def test_one_of_them_may_be_a_control_token_beside_another_that_is_text(written: Written) -> None:
    """As fill-mask needs it: its own mask in a sentence that contains [SEP]."""
    tokenizer = written.tokenizer
    mask = tokenizer.mask_token
    if mask is None or written.kind.name in NEVER_PLAIN:
        assert "mask_token" not in written.published.roles
        return
    for other in sorted(control_spellings(tokenizer).tokens - {mask})[:4]:
        ids = token_ids(tokenizer, f"猫{other}が{mask}。", control=[mask])
        assert ids.count(tokenizer.mask_token_id) == 1
        others = ids[len(written.published.before) : len(ids) - len(written.published.after)]
        if other != tokenizer.unk_token:
            assert tokenizer.convert_tokens_to_ids(other) not in others, (other, ids)


def test_ids_are_those_of_the_files_own_library(written: Written) -> None:
    """SentencePiece never takes a text for a control token; `tokenizers` has a setting, which a BPE follows."""
    tokenizer, published = written.tokenizer, written.published
    n_before, n_after = len(published.before), len(published.after)
    for token, text in written.texts:
        ids = token_ids(tokenizer, text)
        if (expected := _by_its_library(written.folder, published, tokenizer, token, text)) is not None:
            assert ids[n_before : len(ids) - n_after] == expected, (token, text)


def _by_its_library(
    folder: Path, published: Published, tokenizer: PreTrainedTokenizerBase, token: str, text: str
) -> list[int] | None:
    if (folder / "tokenizer.json").is_file():
        core = Tokenizer.from_file(str(folder / "tokenizer.json"))
        core.encode_special_tokens = True
        is_bpe = json.loads(core.to_str())["model"]["type"] == "BPE"
        return list(core.encode(text, add_special_tokens=False).ids) if is_bpe else None
    if tokenizer.is_fast and "[" not in token:  # [MASK] is a piece like others to rinna's SentencePiece
        return [number for number, _ in published.content(text)]
    return None
