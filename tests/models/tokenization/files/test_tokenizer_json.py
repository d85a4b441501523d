"""tokenizer.json and vocabularies without one: ids and template as the library `tokenizers` reads the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import ByteLevelBPETokenizer, Tokenizer, normalizers, processors
from transformers import AutoTokenizer

from engine.errors import ModelError
from engine.models.sources.facts import TokenCheck
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.published_tokens import token_check_of
from engine.models.tokenization.template import template_tokens
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.models.tokenization.files.sentencepiece_directories import TEXTS
from tests.models.zoo.tokenizer_files.byte_level import byte_level
from tests.models.zoo.tokenizer_files.sentence_pieces import unigram
from tests.models.zoo.tokenizer_files.word_pieces import BERT, word_piece
from tests.support.shared_data import shared_data

XLM_R = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}


def written(writer: Any, folder: Path, **settings: Any) -> Tokenizer:
    """The directory that a writer of the zoo makes, with other settings; the file as its library reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    writer(folder)
    (folder / "config.json").write_text("{}")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def check_of(folder: Path) -> TokenCheck:
    check = token_check_of(load_tokenizer(folder))
    assert check is not None
    return check


def agrees(folder: Path, core: Tokenizer) -> bool:
    tokenizer = load_tokenizer(folder)
    texts = [text for text in TEXTS if "<" not in text and "[" not in text]
    return all(token_ids(tokenizer, text) == core.encode(text).ids for text in texts)


@pytest.mark.parametrize("template", [None, ("", "</s>"), ("<s>", "")])
def test_the_template_is_the_files_not_the_classes(template: tuple[str, str] | None, tmp_path: Path) -> None:
    """XLM-R's class puts <s> … </s> round a text; this file has another template, or none."""
    core = written(unigram("XLMRobertaTokenizer", "<s> <pad> </s> <unk> <mask>", **XLM_R), tmp_path)
    core.post_processor = processors.TemplateProcessing(
        single=[*filter(None, [(template or ("", ""))[0]]), "$A", *filter(None, [(template or ("", ""))[1]])],
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    state = json.loads(core.to_str())
    if template is None:
        state["post_processor"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(state))
    unchecked = AutoTokenizer.from_pretrained(tmp_path)
    assert agrees(tmp_path, core)
    expected = tuple(filter(None, template or ()))
    assert template_tokens(load_tokenizer(tmp_path)) == expected
    if unchecked("猫")["input_ids"] != core.encode("猫").ids:
        assert (check_of(tmp_path).repaired, check_of(tmp_path).what) == (True, "template")
    else:
        assert not check_of(tmp_path).repaired


def test_a_class_that_adds_what_the_file_does_not_is_repaired(tmp_path: Path) -> None:
    core = written(word_piece(), tmp_path)
    state = json.loads(core.to_str())
    state["post_processor"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(state))
    assert len(AutoTokenizer.from_pretrained(tmp_path)("cat")["input_ids"]) > len(core.encode("cat").ids) - 2
    assert template_tokens(load_tokenizer(tmp_path)) == ()
    assert check_of(tmp_path).what == "template"


def test_a_setting_about_bos_does_not_take_cls_and_sep_away(tmp_path: Path) -> None:
    """transformers 5 makes a template anew wherever tokenizer_config.json names add_bos_token."""
    for number, value in enumerate((True, False)):
        folder = tmp_path / str(number)
        core = written(word_piece(), folder, add_bos_token=value)
        assert agrees(folder, core) and template_tokens(load_tokenizer(folder)) == ("[CLS]", "[SEP]")


@pytest.mark.parametrize(
    ("before", "settings", "expected"),
    [
        ("<|bos|>", {}, ("<|bos|>",)),
        ("<|bos|>", {"add_bos_token": False}, ()),
        ("", {}, ()),
        ("", {"add_bos_token": True}, ("<|bos|>",)),
        ("", {"add_bos_token": True, "add_eos_token": True}, ("<|bos|>", "<|eos|>")),
        ("<|bos|>", {"add_eos_token": True}, ("<|bos|>", "<|eos|>")),
    ],
)
def test_bos_and_eos_are_those_of_the_file_unless_settings_say_otherwise(
    before: str, settings: dict[str, bool], expected: tuple[str, ...], tmp_path: Path
) -> None:
    writer = byte_level(
        "PreTrainedTokenizerFast",
        before=before,
        last=["<|bos|>", "<|eos|>"],
        modern=True,
        bos_token="<|bos|>",
        eos_token="<|eos|>",
    )
    written(writer, tmp_path, **settings)
    assert template_tokens(load_tokenizer(tmp_path)) == expected


def test_a_language_code_is_the_one_of_the_settings(tmp_path: Path) -> None:
    """tokenizer.json of mBART and NLLB was written for English, and their classes set the language themselves."""
    first = "<s> <pad> </s> <unk> en_XX ja_XX eng_Latn jpn_Jpan <mask>"
    for name, language, expected in (
        ("MBartTokenizer", "ja_XX", ("</s>", "ja_XX")),
        ("MBart50Tokenizer", "ja_XX", ("ja_XX", "</s>")),
        ("NllbTokenizer", "jpn_Jpan", ("jpn_Jpan", "</s>")),
    ):
        folder = tmp_path / name
        written(unigram(name, first, after="</s> en_XX", **XLM_R), folder, src_lang=language)
        assert template_tokens(load_tokenizer(folder)) == expected


def test_a_special_token_in_a_text_of_a_language_model_of_translation(tmp_path: Path) -> None:
    """mBART and NLLB set their template before every text, by names that plain text does not have."""
    for name, language in (("MBartTokenizer", "ja_XX"), ("NllbTokenizer", "jpn_Jpan")):
        folder = tmp_path / name
        first = f"<s> <pad> </s> <unk> {language} <mask>"
        written(unigram(name, first, after=f"</s> {language}", **XLM_R), folder, src_lang=language)
        tokenizer = load_tokenizer(folder)
        for text in ("猫<s>が", "</s>", f"the {language} cat"):
            ids = token_ids(tokenizer, text)
            assert set(ids) & {tokenizer.bos_token_id, tokenizer.mask_token_id} == set()
            assert ids.count(tokenizer.eos_token_id) == 1
            assert ids.count(tokenizer.convert_tokens_to_ids(language)) == 1


def test_a_vocabulary_without_unknown_token_is_refused_in_words(tmp_path: Path) -> None:
    core = written(word_piece(), tmp_path)
    state = json.loads(core.to_str())
    state["model"]["vocab"] = {
        ("[GAP]" if piece == "[UNK]" else piece): number for piece, number in state["model"]["vocab"].items()
    }
    state["added_tokens"] = [added for added in state["added_tokens"] if added["content"] != "[UNK]"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(state))
    with pytest.raises(ModelError, match=r"cannot read '.*': .*no token for unknown characters"):
        load_tokenizer(tmp_path)


def test_a_file_that_its_class_cannot_read_is_read_by_itself(tmp_path: Path) -> None:
    """CamemBERT's class is one of Unigram; later models under its name have a BPE."""
    core = written(
        byte_level(
            "PreTrainedTokenizerFast", before="<s>", after="</s>", first=[*dict.fromkeys(XLM_R.values())], **XLM_R
        ),
        tmp_path,
        tokenizer_class="CamembertTokenizer",
    )
    with pytest.raises(ValueError, match="unpack"):
        AutoTokenizer.from_pretrained(tmp_path)
    assert agrees(tmp_path, core) and template_tokens(load_tokenizer(tmp_path)) == ("<s>", "</s>")


def test_a_tokenizer_that_reads_more_than_texts_is_refused_in_words(tmp_path: Path) -> None:
    core = written(word_piece(), tmp_path, tokenizer_class="LayoutLMv2Tokenizer")
    ids = core.get_vocab()
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"cannot read '.*Words must be"):
        load_tokenizer(tmp_path)


def test_white_space_alone_is_a_notice(tmp_path: Path) -> None:
    """A class that cuts runs of spaces otherwise than the file, which nothing repairs, is used all the same."""
    from engine.models.tokenization import published_tokens  # its parts are put together here

    core = written(unigram("PreTrainedTokenizerFast", "<s> </s> <unk>", scheme="never", unk_token="<unk>"), tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    published = published_tokens._published_file(tmp_path, "PreTrainedTokenizer", tokenizer, {})
    assert published is not None
    collapsed = Tokenizer.from_str(core.to_str())
    collapsed.normalizer = normalizers.Sequence([core.normalizer, normalizers.Replace("  ", " ")])
    tokenizer._tokenizer = collapsed
    trials = [published_tokens._Trial(text, False) for text in ("猫がいる。", "    ")]
    outcome = published_tokens._outcome(tmp_path, tokenizer, published, trials)
    assert outcome.different is None and outcome.white_space is not None and outcome.white_space.text == "    "
    collapsed.normalizer = normalizers.Sequence([core.normalizer, normalizers.Replace("猫", "犬")])
    outcome = published_tokens._outcome(tmp_path, tokenizer, published, trials)
    assert outcome.different is not None and outcome.different.text == "猫がいる。"


@pytest.mark.parametrize("lower", [True, False])
def test_a_berts_vocabulary_alone(lower: bool, tmp_path: Path) -> None:
    core = written(word_piece(), tmp_path, do_lower_case=lower)
    ids = core.get_vocab()
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)))
    (tmp_path / "tokenizer.json").unlink()
    core.normalizer = normalizers.BertNormalizer(lowercase=lower)
    assert agrees(tmp_path, core)
    check = check_of(tmp_path)
    assert check.file == "vocab.txt" and check.n_texts >= 1000


@pytest.mark.parametrize(
    ("name", "before", "after", "settings"),
    [
        ("GPT2Tokenizer", "", "", {}),
        ("GPT2Tokenizer", "", "", {"add_prefix_space": True}),
        ("RobertaTokenizer", "<s>", "</s>", {}),
        ("RobertaTokenizer", "<s>", "</s>", {"add_prefix_space": True}),
    ],
)
def test_byte_level_vocabulary_and_merges_alone(
    name: str, before: str, after: str, settings: dict[str, bool], tmp_path: Path
) -> None:
    roles = {role: token for role, token in XLM_R.items() if name == "RobertaTokenizer"} or {
        role: "<|endoftext|>" for role in ("bos_token", "eos_token", "unk_token")
    }
    first = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if name == "RobertaTokenizer" else ["<|endoftext|>"]
    core = written(byte_level(name, before=before, after=after, first=first, **roles), tmp_path, **settings)
    core.model.save(str(tmp_path))
    (tmp_path / "tokenizer.json").unlink()
    own = ByteLevelBPETokenizer.from_file(
        str(tmp_path / "vocab.json"),
        str(tmp_path / "merges.txt"),
        add_prefix_space=settings.get("add_prefix_space", False),
    )
    tokenizer = load_tokenizer(tmp_path)
    around = [[own.token_to_id(token)] if token else [] for token in (before, after)]
    for text in (text for text in TEXTS if "<" not in text):
        assert token_ids(tokenizer, text) == [*around[0], *own.encode(text).ids, *around[1]], text
    assert check_of(tmp_path).file == "vocab.json"


def test_pieces_that_are_numbered_otherwise_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support import tiny_models

    folder = tiny_models.bert_japanese(tmp_path / "japanese")
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join([*lines[:5], *lines[6:], lines[5]]), encoding="utf-8")
    from engine.models.tokenization.published_tokens import check_tokens

    with pytest.raises(
        ModelError, match=r"does not number its pieces as vocab\.txt says: .* is \d+ where the file has"
    ):
        check_tokens(folder, tokenizer)


def test_published_vocabularies_of_berts_and_gpt2(tmp_path: Path) -> None:
    bert = shared_data("tokenizers", "bert-base-multilingual-cased", "vocab.txt")
    gpt2 = shared_data("tokenizers", "gpt2")
    folder = tmp_path / "bert"
    folder.mkdir()
    (folder / "vocab.txt").write_bytes(bert.read_bytes())
    (folder / "config.json").write_text('{"model_type": "bert"}')
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer", "do_lower_case": false}')
    assert check_of(folder).file == "vocab.txt" and check_of(folder).n_texts >= 1000
    assert BERT["cls_token"] == template_tokens(load_tokenizer(folder))[0]
    folder = tmp_path / "gpt2"
    folder.mkdir()
    for name in ("vocab.json", "merges.txt"):
        (folder / name).write_bytes((gpt2 / name).read_bytes())
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
    own = ByteLevelBPETokenizer.from_file(str(gpt2 / "vocab.json"), str(gpt2 / "merges.txt"))
    tokenizer = load_tokenizer(folder)
    assert all(token_ids(tokenizer, text) == own.encode(text).ids for text in TEXTS)
