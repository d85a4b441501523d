"""Vocabularies learnt from a corpus, and the tokenizers that transformers loads them with.

BERT: MeCab (unidic-lite) words, then WordPiece; saved so that `BertJapaneseTokenizer` loads it.
GPT-2: Unigram with byte fallback, so that no character is ever unknown; saved as a fast tokenizer.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.errors import InputError

BERT_SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
GPT2_SPECIAL_TOKENS = ["<unk>", "<s>", "</s>", "<pad>"]
# Of the distinct characters of a corpus, rare kanji fill a small vocabulary; below this share of
# running text they are left to [UNK] (BERT) or to bytes (GPT-2).
CHARACTER_COVERAGE = 0.9985

Encode = Callable[[str], list[int]]


def train_wordpiece(sentences: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerBase:
    """A `BertJapaneseTokenizer` of `vocab_size` pieces learnt from `sentences`, saved in `out`."""
    words = _mecab_words()
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(words(sentence))
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    # The words are MeCab's already: only cut between them.
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=BERT_SPECIAL_TOKENS, show_progress=False,
        limit_alphabet=_characters_to_cover(counts), min_frequency=2,
    )
    learner.train_from_iterator((word for word, n in sorted(counts.items()) for _ in range(n)), trainer)
    # The learner numbers its pieces by chance; sorted, the same corpus gives the same file.
    pieces = [*BERT_SPECIAL_TOKENS, *sorted(set(learner.get_vocab()) - set(BERT_SPECIAL_TOKENS))]
    out.mkdir(parents=True, exist_ok=True)
    (out / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
    tokenizer = BertJapaneseTokenizer(
        str(out / "vocab.txt"), word_tokenizer_type="mecab", subword_tokenizer_type="wordpiece",
        mecab_kwargs={"mecab_dic": "unidic_lite"}, do_lower_case=False,
    )
    tokenizer.save_pretrained(out)
    return tokenizer


def train_unigram(sentences: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerBase:
    """A fast Unigram tokenizer of `vocab_size` pieces learnt from `sentences`, saved in `out`."""
    with TemporaryDirectory() as folder:
        prefix = f"{folder}/unigram"
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=(unicodedata.normalize("NFKC", sentence) for sentence in sentences),
                model_prefix=prefix, model_type="unigram", vocab_size=vocab_size, byte_fallback=True,
                # a small corpus may hold fewer pieces than asked for
                hard_vocab_limit=False, character_coverage=CHARACTER_COVERAGE, normalization_rule_name="identity",
                add_dummy_prefix=False, unk_id=0, bos_id=1, eos_id=2, pad_id=3, max_sentence_length=8192,
                num_threads=2, minloglevel=2,
            )
        except RuntimeError as error:
            raise InputError(f"No vocabulary of {vocab_size:,} pieces can be learnt from this corpus: "
                             f"{error}") from error
        learnt = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    pieces = [(learnt.id_to_piece(i), learnt.get_score(i)) for i in range(learnt.get_piece_size())]
    core = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(),
                                      decoders.Metaspace(prepend_scheme="never", split=False)])
    # <s> opens every sequence: without it the first token of a sentence would have no probability.
    core.post_processor = TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>",
    )
    tokenizer.save_pretrained(out)
    return tokenizer


def fast_encoder(tokenizer: PreTrainedTokenizerBase) -> Encode:
    """Sentence -> ids without special tokens, equal to the tokenizer's own and fast enough for a corpus.

    BertJapaneseTokenizer cuts each word into pieces in Python; a novel repeats its words, so the
    pieces of a word are remembered.
    """
    if not isinstance(tokenizer, BertJapaneseTokenizer):
        return lambda sentence: tokenizer.encode(sentence, add_special_tokens=False)
    words, pieces = tokenizer.word_tokenizer, tokenizer.subword_tokenizer
    vocabulary = tokenizer.get_vocab()
    remembered: dict[str, list[int]] = {}

    def encode(sentence: str) -> list[int]:
        ids: list[int] = []
        for word in words.tokenize(sentence):
            if word not in remembered:
                remembered[word] = [vocabulary[piece] for piece in pieces.tokenize(word)]
            ids += remembered[word]
        return ids

    return encode


def _mecab_words() -> Callable[[str], list[str]]:
    from transformers.models.bert_japanese.tokenization_bert_japanese import MecabTokenizer

    return MecabTokenizer(mecab_dic="unidic_lite").tokenize


def _characters_to_cover(counts: Counter[str]) -> int:
    characters: Counter[str] = Counter()
    for word, n in counts.items():
        for character in word:
            characters[character] += n
    running, total = 0, sum(characters.values())
    for needed, (_, n) in enumerate(characters.most_common(), start=1):
        running += n
        if running >= CHARACTER_COVERAGE * total:
            return needed
    return len(characters)


def sample_sentences(sentences: Iterator[str], every: int) -> Iterator[str]:
    """Every `every`-th sentence: a vocabulary needs a spread of the corpus, not all of it."""
    return (sentence for i, sentence in enumerate(sentences) if i % every == 0)
