"""WordPiece with BERT's template, MeCab's words in WordPiece, single characters, and GPT-NeoX-Japanese's own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import fugashi
import unidic_lite
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.models.zoo.texts import CORPUS
from tests.models.zoo.tokenizer_files.published import Published, Tokens, Writer, write_settings, write_tokenizer_json

BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
MPNET = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "[UNK]",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "mask_token": "<mask>",
}
FUNNEL = {
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "cls_token": "<cls>",
    "sep_token": "<sep>",
    "mask_token": "<mask>",
    "bos_token": "<s>",
    "eos_token": "</s>",
}


def word_piece(class_name: str = "BertTokenizer", roles: dict[str, str] = BERT, *, first: str = "") -> Writer:
    """tokenizer.json with BERT's normaliser, words and template; `first`: special tokens in order of their ids."""

    def write(folder: Path) -> Published:
        names = first.split() or list(dict.fromkeys(roles.values()))
        core = Tokenizer.from_str(_trained(tuple(names), roles["unk_token"]))
        cls, sep = roles["cls_token"], roles["sep_token"]
        core.post_processor = processors.TemplateProcessing(
            single=f"{cls}:0 $A:0 {sep}:0",
            pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
            special_tokens=[(name, core.token_to_id(name)) for name in (cls, sep)],
        )
        return write_tokenizer_json(folder, core, class_name, roles, cls, sep, do_lower_case=True)

    return write


@cache
def _trained(names: tuple[str, ...], unknown: str) -> str:
    core = Tokenizer(models.WordPiece(unk_token=unknown))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece()
    core.train_from_iterator(
        CORPUS * 4, trainers.WordPieceTrainer(vocab_size=400, special_tokens=list(names), show_progress=False)
    )
    return str(core.to_str())


def japanese(pieces: str) -> Writer:
    """BertJapaneseTokenizer, which has no tokenizer.json: MeCab's words in "wordpiece" or in "character"."""

    def write(folder: Path) -> Published:
        characters = sorted(set("".join(CORPUS)) - {" "})
        words = ["東京", "タワー", "ラーメン", "食べ", "まし", "小説", "##メン", "昨日", "電車", "Un", "##be", "##able"]
        vocabulary = list(dict.fromkeys([*BERT.values(), *characters, *(f"##{c}" for c in characters), *words]))
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")
        write_settings(
            folder,
            "BertJapaneseTokenizer",
            BERT,
            word_tokenizer_type="mecab",
            do_lower_case=False,
            subword_tokenizer_type=pieces,
            mecab_kwargs={"mecab_dic": "unidic_lite"},
        )
        id_of = {piece: number for number, piece in enumerate(vocabulary)}
        mecab = fugashi.GenericTagger(f"-d {unidic_lite.DICDIR} -r {unidic_lite.DICDIR}/mecabrc")

        def content(text: str) -> Tokens:
            tokens: Tokens = []
            position = 0
            for node in mecab(text):
                position = text.index(node.surface, position)
                cut = list(node.surface) if pieces == "character" else _longest_pieces(node.surface, id_of)
                for piece in cut:
                    end = position + len(piece.removeprefix("##"))
                    tokens.append((id_of[piece], (position, end)))
                    position = end
            return tokens

        return Published(
            len(vocabulary),
            [id_of["[CLS]"]],
            [id_of["[SEP]"]],
            {role: id_of[token] for role, token in BERT.items()},
            content,
        )

    return write


def _longest_pieces(word: str, id_of: dict[str, int]) -> list[str]:
    """WordPiece by its definition: the longest piece of the vocabulary, again and again."""
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        end = next(end for end in range(len(word), start, -1) if mark + word[start:end] in id_of)
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def gpt_neox_japanese(folder: Path) -> Published:
    """vocab.txt and emoji.json of ABEJA's model; here every character is a token, and a space is <SP>."""
    characters = sorted(set("".join(CORPUS)) - {" "})
    words = ["東京", "タワー", "まし"]  # three characters at most
    tags = [
        "<SP>",
        "<BR>",
        "<TAB>",
        "<BLOCK>",
        "<KIGOU>",
        "<U2000U2BFF>",
        *(f"<|emoji{i}|>" for i in range(1, 13)),
        *(f"<|byte{i}|>" for i in range(256)),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    vocabulary = [*words, *characters, *tags]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")
    (folder / "emoji.json").write_text(json.dumps({"emoji": {}, "emoji_inv": {}}))
    roles = {
        "bos_token": "<|startoftext|>",
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "unk_token": "<|endoftext|>",
    }
    write_settings(folder, "GPTNeoXJapaneseTokenizer", roles)
    id_of = {piece: number for number, piece in enumerate(vocabulary)}

    def content(text: str) -> Tokens:
        tokens: Tokens = []
        position = 0
        while position < len(text):
            word = next((word for word in words if text.startswith(word, position)), text[position])
            tokens.append((id_of["<SP>" if word == " " else word], (position, position + len(word))))
            position += len(word)
        return tokens

    return Published(len(vocabulary), [], [], {role: id_of[token] for role, token in roles.items()}, content)
