"""Training of vocabularies on a corpus, saved as tokenizers that transformers loads.

WordPiece and characters: inside MeCab's words (unidic-lite); saved so that `BertJapaneseTokenizer` loads them.
Basic WordPiece: lower-cased, without accents, inside the words that spaces and punctuation separate, as BERT's
BasicTokenizer cuts them; saved as a fast tokenizer.
Unigram: over running text, with byte fallback, so that no character is ever unknown; saved as a fast tokenizer, with
<s> for a causal model, with [CLS], [SEP] and [MASK] for a masked one.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.errors import InputError
from engine.messages.message import Message

BERT_SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MASKED_NAMES = {
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}
# Rare kanji would fill a small vocabulary: the most frequent characters that cover this share of
# running text are kept, the others become [UNK] (BERT) or bytes (GPT-2).
CHARACTER_COVERAGE = 0.9985
# An alphabet is small, and a word with a letter that is missing is unknown as a whole: z is one in a thousand letters.
ALPHABET_COVERAGE = 0.99995
# Books are set with curly quotes and sentences typed with straight ones: a vocabulary of English has the straight.
STRAIGHT_QUOTES = {"‘": "'", "’": "'", "“": '"', "”": '"'}

Encode = Callable[[str], list[int]]


def train_wordpiece(sentences: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerBase:
    """A `BertJapaneseTokenizer` of `vocab_size` pieces learnt from `sentences`, saved in `out`."""
    words = _mecab_words()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(words(sentence))
    wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    # MeCab has segmented the words: split only between them.
    wordpiece.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=BERT_SPECIAL_TOKENS,
        show_progress=False,
        **_alphabet(counts),
        min_frequency=2,
    )
    wordpiece.train_from_iterator((word for word, n in sorted(counts.items()) for _ in range(n)), trainer)
    # Training assigns ids in no fixed order; sorted, the same corpus gives the same file.
    pieces = sorted(set(wordpiece.get_vocab()) - set(BERT_SPECIAL_TOKENS))
    return _save_japanese([*BERT_SPECIAL_TOKENS, *pieces], "wordpiece", out)


def train_basic_wordpiece(sentences: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerBase:
    """A fast tokenizer of `vocab_size` lower-cased pieces learnt from `sentences`, saved in `out`.

    Words are those of BERT's BasicTokenizer: separated by spaces and at punctuation, without accents.
    """
    wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    wordpiece.normalizer = normalizers.Sequence([*_straight_quotes(), normalizers.BertNormalizer(lowercase=True)])
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        text = wordpiece.normalizer.normalize_str(sentence)
        counts.update(word for word, _ in wordpiece.pre_tokenizer.pre_tokenize_str(text))
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=BERT_SPECIAL_TOKENS,
        show_progress=False,
        **_alphabet(counts, ALPHABET_COVERAGE),
        min_frequency=2,
    )
    wordpiece.train_from_iterator((word for word, n in sorted(counts.items()) for _ in range(n)), trainer)
    # Training assigns ids in no fixed order.
    pieces = [*BERT_SPECIAL_TOKENS, *sorted(set(wordpiece.get_vocab()) - set(BERT_SPECIAL_TOKENS))]
    wordpiece.model = models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]")
    wordpiece.decoder = decoders.WordPiece()
    ids = [(name, pieces.index(name)) for name in ("[CLS]", "[SEP]")]
    wordpiece.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ids
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=wordpiece, **MASKED_NAMES)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(out)
    return tokenizer


def _straight_quotes() -> list[normalizers.Normalizer]:
    return [normalizers.Replace(curly, straight) for curly, straight in STRAIGHT_QUOTES.items()]


def train_characters(sentences: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerBase:
    """A `BertJapaneseTokenizer` of at most `vocab_size` pieces: the most frequent characters of `sentences`."""
    words = _mecab_words()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for word in words(sentence):
            counts.update(word)
    by_frequency = sorted(counts, key=lambda character: (-counts[character], character))
    kept = sorted(by_frequency[: vocab_size - len(BERT_SPECIAL_TOKENS)])
    return _save_japanese([*BERT_SPECIAL_TOKENS, *kept], "character", out)


def _save_japanese(pieces: list[str], subwords: str, out: Path) -> PreTrainedTokenizerBase:
    out.mkdir(parents=True, exist_ok=True)
    (out / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
    tokenizer = BertJapaneseTokenizer(
        str(out / "vocab.txt"),
        word_tokenizer_type="mecab",
        subword_tokenizer_type=subwords,
        mecab_kwargs={"mecab_dic": "unidic_lite"},
        do_lower_case=False,
    )
    tokenizer.save_pretrained(out)
    return tokenizer


def train_unigram(
    sentences: Iterable[str], vocab_size: int, out: Path, *, masked: bool = False, straight_quotes: bool = False
) -> PreTrainedTokenizerBase:
    """A fast Unigram tokenizer of `vocab_size` pieces learnt from `sentences`, saved in `out`.

    `masked`: with the special tokens of a masked model instead of those of a causal one. `straight_quotes`: curly
    quotes are read as straight ones, and the characters are an alphabet, which is learnt whole.
    """
    normalizer = normalizers.Sequence([normalizers.NFKC(), *_straight_quotes()]) if straight_quotes else None
    special: dict[str, Any] = (
        {
            "unk_piece": "[UNK]",
            "bos_piece": "[CLS]",
            "eos_piece": "[SEP]",
            "pad_piece": "[PAD]",
            "control_symbols": ["[MASK]"],
        }
        if masked
        else {}
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent) as folder:  # its pieces are of the corpus
        prefix = f"{folder}/unigram"
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=(
                    normalizer.normalize_str(sentence) if normalizer else unicodedata.normalize("NFKC", sentence)
                    for sentence in sentences
                ),
                model_prefix=prefix,
                model_type="unigram",
                vocab_size=vocab_size,
                byte_fallback=True,
                # a small corpus may hold fewer pieces than asked for
                hard_vocab_limit=False,
                character_coverage=ALPHABET_COVERAGE if straight_quotes else CHARACTER_COVERAGE,
                normalization_rule_name="identity",
                add_dummy_prefix=False,
                unk_id=0,
                bos_id=1,
                eos_id=2,
                pad_id=3,
                max_sentence_length=8192,
                num_threads=2,
                minloglevel=2,
                **special,
            )
        except RuntimeError as error:
            raise InputError(
                Message(
                    "No vocabulary of {vocab_size:,} pieces can be learnt from this corpus: {error}",
                    vocab_size=vocab_size,
                    error=error,
                )
            ) from error
        processor = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]
    core = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    core.normalizer = normalizer or normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    core.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), decoders.Metaspace(prepend_scheme="never", split=False)]
    )
    if masked:
        core.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
        names = MASKED_NAMES
    else:
        # <s> opens every sequence: without it the first token of a sentence would have no probability.
        core.post_processor = TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)])
        names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **names)
    tokenizer.save_pretrained(out)
    return tokenizer


def fast_encoder(tokenizer: PreTrainedTokenizerBase) -> Encode:
    """Sentence -> ids without special tokens, equal to the tokenizer's own and fast enough for a corpus.

    BertJapaneseTokenizer splits each word into pieces in Python; words repeat, so the pieces of a
    word are cached.
    """
    if not isinstance(tokenizer, BertJapaneseTokenizer):
        return lambda sentence: tokenizer.encode(sentence, add_special_tokens=False)
    words, pieces = tokenizer.word_tokenizer, tokenizer.subword_tokenizer
    vocabulary = tokenizer.get_vocab()
    ids_by_word: dict[str, list[int]] = {}

    def encode(sentence: str) -> list[int]:
        ids: list[int] = []
        for word in words.tokenize(sentence):
            if word not in ids_by_word:
                ids_by_word[word] = [vocabulary[piece] for piece in pieces.tokenize(word)]
            ids += ids_by_word[word]
        return ids

    return encode


def _mecab_words() -> Callable[[str], list[str]]:
    from transformers.models.bert_japanese.tokenization_bert_japanese import MecabTokenizer

    return MecabTokenizer(mecab_dic="unidic_lite").tokenize


def _alphabet(counts: Counter[str], share: float = CHARACTER_COVERAGE) -> dict[str, Any]:
    """What a trainer is told of the characters: the most frequent ones that cover a share of the text.

    They are named one by one, of equally frequent ones those of lower code points: where a trainer is told their number
    alone, which of these it keeps changes from run to run.
    """
    characters: Counter[str] = Counter()
    for word, n in counts.items():
        for character in word:
            characters[character] += n
    running, total, alphabet = 0, sum(characters.values()), list[str]()
    for character, n in sorted(characters.items(), key=lambda entry: (-entry[1], entry[0])):
        if running >= share * total:
            break
        running += n
        alphabet.append(character)
    return {"initial_alphabet": alphabet, "limit_alphabet": len(alphabet)}


def sample_sentences(sentences: Iterator[str], every: int) -> Iterator[str]:
    """Every `every`-th sentence: a vocabulary needs a sample of the corpus, not all of it."""
    return (sentence for i, sentence in enumerate(sentences) if i % every == 0)
