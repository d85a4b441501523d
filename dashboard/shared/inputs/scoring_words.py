"""What a reader sees of the choices of a scoring, on every page that offers them."""

from __future__ import annotations

from collections.abc import Mapping

from engine.translation import mark, tr

# By the name of the setting in `engine.evaluations.alignment.records.Scoring`: choice -> words.
WORDS: Mapping[str, Mapping[str, str]] = {
    "idf": {"none": mark("none"), "references": mark("references")},
    "penalty": {"none": mark("none"), "reading": mark("as in the paper"), "names": mark("names by reading")},
    "criterion": {"idf": mark("low-frequency tokens"), "proper-nouns": mark("proper nouns"), "either": mark("either"),
                  "both": mark("tokens that are both"), "names": mark("names")},
    "threshold_kind": {"quantile": mark("share of entries"), "value": "idf"},
    "pairing": {"token": mark("token by token"), "joined": mark("whole sentence")},
    "special_tokens": {"as-bert-score": mark("as in bert_score"), "left-out": mark("left out")},
    "reading_engine": {"pykakasi": "pykakasi", "unidic": "UniDic"},
    "reading_scope": {"piece": mark("token"), "word": mark("word")},
    "sounds": {"auto": mark("automatic"), "apart": mark("kept apart"), "merged": mark("merged")},
    "unit": {"subword": mark("subword"), "word": mark("word")},
}


def choice_words(name: str) -> dict[str, str]:
    """What a reader sees of each choice of a setting, in the reader's language.

    >>> choice_words("reading_engine")
    {'pykakasi': 'pykakasi', 'unidic': 'UniDic'}
    """
    return {choice: tr(words) for choice, words in WORDS[name].items()}
