"""What the paper on token-length bias in minimal pairs printed: tables 1 to 3 of Ueda, Mita, Komachi 2024.

Transcribed cell by cell from the appendices of "Minimal-pair Paradigm データセットにおけるトークン長バイアスの分析と
改善" (NLP 2024); the names of the English phenomena as the paper abbreviates them.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.evaluations.paper_tables.printed import PaperTable
from engine.messages.message import Message

PAPER = Message("Ueda, Mita, Komachi 2024, NLP 2024 (in Japanese)")
FAMILIES = ("GPT-2", "BERT", "RoBERTa")
STRATA = ("A=U", "A>U", "A<U")
BALANCED = Message("{family}, balanced")

MODELS_TABLE = PaperTable(
    "length-1",
    "The language models and the datasets that they were asked",
    PAPER,
    "table 1",
    ("model", "language", "tokenizer", "vocabulary size", "datasets"),
    (
        ("GPT-2 medium", "English", "BPE", "50,256", "BLiMP, CrowS-Pairs, COMPS"),
        ("BERT base (cased)", "English", "WordPiece", "28,996", "BLiMP, CrowS-Pairs, COMPS"),
        ("RoBERTa base", "English", "BPE", "50,263", "BLiMP, CrowS-Pairs, COMPS"),
        ("japanese-gpt2-medium", "Japanese", "Unigram", "32,000", "JBLiMP"),
        ("Arabic GPT2", "Arabic", "Unigram", "64,000", "Arabic MP"),
        ("AraBERT v2", "Arabic", "Unigram", "64,000", "Arabic MP"),
        ("gpt2-wechsel-french", "French", "BPE", "50,257", "French CrowS-Pairs"),
        ("roberta-base-wechsel-french", "French", "BPE", "50,265", "French CrowS-Pairs"),
        ("BERT multilingual base (cased)", "many", "WordPiece", "119,547", "JBLiMP, French CrowS-Pairs"),
        ("XLNet-RoBERTa base", "many", "Unigram", "119,547", "JBLiMP, Arabic MP"),
    ),
    note="The languages are translated. 119,547 is the vocabulary of multilingual BERT; XLM-RoBERTa's has 250,002 "
    "pieces.",
)
COUNTS_TABLE = PaperTable(
    "length-2",
    "Pairs by the number of tokens of their sentences",
    PAPER,
    "table 2",
    ("dataset", *(f"{family} {stratum}" for family in FAMILIES for stratum in STRATA)),
    (
        ("BLiMP", "22,368", "3,822", "4,810", "22,384", "4,488", "4,128", "23,992", "3,182", "3,826"),
        ("CrowS-Pairs", "997", "282", "229", "1,021", "283", "204", "1,124", "256", "128"),
        ("COMPS", "29,592", "16,727", "16,917", "24,691", "19,584", "18,961", "20,608", "6,784", "35,844"),
        ("JBLiMP", "147", "65", "119", "208", "58", "65", "128", "107", "96"),
        ("Arabic MP", "702", "251", "547", "852", "174", "474", "480", "476", "544"),
        ("French CrowS-Pairs", "1132", "309", "235", "855", "495", "326", "1324", "224", "128"),
    ),
    note="The counts of a family are those of its model for the language of the dataset (table 1). Its three of BLiMP "
    "make 31,000 pairs, of the 67,000 that BLiMP has; the paper does not say which.",
)
ACCURACIES_TABLE = PaperTable(
    "length-3",
    "Accuracy on ten phenomena of BLiMP, before and after the bias was removed",
    PAPER,
    "table 3",
    ("phenomenon", *FAMILIES, *(BALANCED.format(family=family) for family in FAMILIES)),
    (
        ("Animate Subject Passive", "67.5", "79.1", "74.9", "73.3", "82.4", "76.6"),
        ("Causative", "75.6", "73.1", "83.6", "81.6", "82.1", "86.1"),
        ("Drop Argument", "58.7", "58.8", "64.8", "60.1", "64.0", "63.7"),
        ("Inchoative", "65.3", "59.8", "76.2", "72.5", "73.3", "76.4"),
        ("Passive 2", "88.7", "90.1", "90.1", "91.3", "92.8", "93.5"),
        ("Expletive It Object Raising", "81.2", "80.0", "81.5", "90.1", "79.8", "81.2"),
        ("Tough vs. Raising 1", "76.4", "68.4", "87.6", "84.0", "77.7", "87.5"),
        ("Det. Noun Agr. Irregular 1", "93.4", "97.7", "98.6", "98.0", "99.6", "99.2"),
        ("Left Branch Island Echo Question", "51.8", "66.2", "69.7", "40.9", "68.4", "69.1"),
        ("Matrix Question NPI Lic. Pres.", "58.4", "92.7", "89.9", "59.1", "94.3", "90.0"),
    ),
    {head: "accuracy" for family in FAMILIES for head in (family, BALANCED.format(family=family))},
    "In per cent: the ten phenomena that the bias moves most. Balanced: sentences of equal token length; how pairs of "
    "unequal length were brought to it is not said.",
)
TABLES = (ACCURACIES_TABLE, COUNTS_TABLE, MODELS_TABLE)

# Row of table 3 -> BLiMP's UID.
UIDS: Mapping[str, str] = {
    "Animate Subject Passive": "animate_subject_passive",
    "Causative": "causative",
    "Drop Argument": "drop_argument",
    "Inchoative": "inchoative",
    "Passive 2": "passive_2",
    "Expletive It Object Raising": "expletive_it_object_raising",
    "Tough vs. Raising 1": "tough_vs_raising_1",
    "Det. Noun Agr. Irregular 1": "determiner_noun_agreement_irregular_1",
    "Left Branch Island Echo Question": "left_branch_island_echo_question",
    "Matrix Question NPI Lic. Pres.": "matrix_question_npi_licensor_present",
}
# Model of table 1 -> the family whose columns have it in tables 2 and 3.
FAMILY: Mapping[str, str] = {
    "GPT-2 medium": "GPT-2",
    "japanese-gpt2-medium": "GPT-2",
    "Arabic GPT2": "GPT-2",
    "gpt2-wechsel-french": "GPT-2",
    "BERT base (cased)": "BERT",
    "AraBERT v2": "BERT",
    "BERT multilingual base (cased)": "BERT",
    "RoBERTa base": "RoBERTa",
    "roberta-base-wechsel-french": "RoBERTa",
    "XLNet-RoBERTa base": "RoBERTa",
}


def families(dataset: str) -> dict[str, str]:
    """The family of each model that table 1 says was asked a dataset of table 2.

    >>> families("JBLiMP")
    {'japanese-gpt2-medium': 'GPT-2', 'BERT multilingual base (cased)': 'BERT', 'XLNet-RoBERTa base': 'RoBERTa'}
    """
    return {row[0]: FAMILY[row[0]] for row in MODELS_TABLE.cells if dataset in row[-1].split(", ")}


def n_pairs(dataset: str) -> int:
    """The number of pairs of a dataset, the sum of its three strata, which is the same for every family."""
    columns = [f"{FAMILIES[0]} {stratum}" for stratum in STRATA]
    return int(sum(COUNTS_TABLE.values(column)[dataset] for column in columns))
