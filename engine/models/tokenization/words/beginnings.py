"""Which pieces of a vocabulary begin a word, where the tokenizer marks that: with the white space before the word.

The white space of a text stands at the beginning of the next piece (GPT-2's " the", written Ġthe; SentencePiece's
▁the), so that whether a word has ended is told by the piece after it. Pimentel and Meister 2024 (arXiv 2406.14561)
call these tokenizers beginning-of-word-marking; Oh and Schuler 2024 (arXiv 2406.10851) call it leading white space.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.offsets import control_ids

# A tokenizer marks the beginnings of words if at least this share of its pieces of text are white space with text
# after it. Of GPT-2's, two thirds are; a vocabulary of characters, or of a language written without spaces, has few.
LEAST_SHARE = 0.1


@dataclass(frozen=True)
class WordBeginnings:
    """The pieces of one vocabulary, by id; all bool (n_ids,).

    spaced: pieces of text that begin with white space. ends: control tokens, such as EOS: no word goes on with them.
    text: all other pieces of text, and the unknown token. share: of the pieces of text, those of white space with text
    after it.
    """

    spaced: np.ndarray
    ends: np.ndarray
    text: np.ndarray
    share: float

    @property
    def are_marked(self) -> bool:
        """Whether the tokenizer marks where words begin: the share of such pieces is LEAST_SHARE or more."""
        return self.share >= LEAST_SHARE

    @property
    def behind_a_word(self) -> np.ndarray:
        """What may stand next where a word has ended: the beginning of the next one, or an end."""
        return np.asarray(self.spaced | self.ends)

    @property
    def first_without_space(self) -> np.ndarray:
        """What may stand first in a text that begins without white space: any other piece of text, or an end."""
        return np.asarray(self.text | self.ends)


def word_beginnings(tokenizer: PreTrainedTokenizerBase) -> WordBeginnings:
    """Read from what the tokenizer decodes each of its ids to, after a piece of text; kept for each tokenizer.

    A piece begins with white space if its text does, and that space is its own: where the decoder alone writes it, as
    between the pieces of a BERT, the text after it is spelled as the piece. The share is that of the pieces that go on
    after their white space, among all pieces of text.
    """
    if tokenizer not in _known:
        _known[tokenizer] = _read(tokenizer)
    return _known[tokenizer]


def _read(tokenizer: PreTrainedTokenizerBase) -> WordBeginnings:
    control, n = control_ids(tokenizer), len(tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(list(range(n)))
    # Decoders drop the space before a text, but not after one.
    before = next((i for i in token_ids(tokenizer, "a") if i not in control), 0)
    start = len(_decoded(tokenizer, [before]))
    spaced, goes_on = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    is_text = np.array([i not in control and pieces[i] is not None for i in range(n)], dtype=bool)
    for i in np.flatnonzero(is_text).tolist():
        text = _decoded(tokenizer, [before, i])[start:]
        after = text.lstrip()
        spaced[i] = text != after and after != pieces[i]
        goes_on[i] = spaced[i] and after != ""
    ends = np.zeros(n, dtype=bool)
    ends[[i for i in control if i < n]] = True
    return WordBeginnings(spaced, ends, is_text & ~spaced, float(goes_on.sum() / max(1, is_text.sum())))


def _decoded(tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


_known: WeakKeyDictionary[PreTrainedTokenizerBase, WordBeginnings] = WeakKeyDictionary()
