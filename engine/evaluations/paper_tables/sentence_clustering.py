"""What the two papers on sentence clustering printed of their models: tables to lay beside one's own, never among them.

Transcribed number by number, as strings, from Shibayama, Cao, Bai, Ma, Shinnou 2020: tables 1 to 5 of "Evaluation of
Pretrained BERT Model by Using Sentence Clustering" (PACLIC 34) and tables 2 and 3 of its Japanese forerunner (NLP 2020,
pages 1233-1236). The forerunner's model names are given in the later paper's words: 京大版 is "Kyoto Univ. Ver.".
"""

from __future__ import annotations

from engine.evaluations.paper_tables.printed import PaperTable
from engine.messages.message import Message

PACLIC = Message("Shibayama, Cao, Bai, Ma, Shinnou 2020, PACLIC 34")
NLP = Message("Shibayama, Cao, Bai, Ma, Shinnou 2020, NLP 2020 (in Japanese)")


_DISPERSIONS = {"A_m": "in_class_dispersion", "B_m": "out_of_class_dispersion", "score": "dispersion_score"}
_DOMAINS = ("books", "DVDs", "music", "all")

# The forerunner ran it with sub-words, which its card does not.
MECAB = "MeCab Ver."

TABLES: dict[str, PaperTable] = {
    table.key: table
    for table in (
        PaperTable(
            "paclic-2",
            "Dispersions and score on 900 titles of livedoor news",
            PACLIC,
            "table 2",
            ("model", "A_m", "B_m", "score"),
            (
                ("Kyoto Univ. Ver.", "240131.79", "337.83", "710.81"),
                ("MeCab Ver.", "97536.21", "154.37", "631.06"),
                ("SP Ver.", "67744.36", "104.05", "651.06"),
                ("Tohoku Univ. Ver.", "49991.31", "65.64", "761.58"),
                ("NICT Ver.", "106698.11", "151.27", "705.37"),
                ("Laboro Ver.", "153378.22", "273.83", "560.13"),
            ),
            _DISPERSIONS,
            "The printed score of MeCab Ver. is not the ratio of its printed dispersions: 97536.21 / 154.37 = 631.83. The "
            "other five are, to the last digit that rounding leaves sure; the order of the models is the same either way.",
        ),
        PaperTable(
            "paclic-3",
            "Scores of the forerunner and of the later paper",
            PACLIC,
            "table 3",
            ("model", "previous", "this"),
            (
                ("Kyoto Univ. Ver.", "710.88", "710.81"),
                ("MeCab Ver.", "458.19", "631.06"),
                ("SP Ver.", "668.92", "651.06"),
                ("Tohoku Univ. Ver.", "792.34", "761.58"),
            ),
            {"previous": "dispersion_score", "this": "dispersion_score"},
            "MeCab Ver. was tokenized without sub-words the second time. The text says that the others changed by 0.8 to "
            "30; by the table it is 0.07 to 30.76.",
        ),
        PaperTable(
            "paclic-4",
            "Mean probability of the masked noun in product reviews",
            PACLIC,
            "table 4",
            ("model", *_DOMAINS),
            (
                ("Kyoto Univ. Ver.", "11.53%", "11.18%", "9.24%", "10.65%"),
                ("MeCab Ver.", "11.24%", "13.62%", "7.62%", "10.83%"),
                ("SP Ver.", "7.36%", "9.86%", "6.41%", "7.88%"),
                ("Tohoku Univ. Ver.", "14.04%", "12.76%", "10.81%", "12.54%"),
                ("NICT Ver.", "11.90%", "12.63%", "8.68%", "11.07%"),
                ("Laboro Ver.", "8.86%", "10.44%", "9.85%", "9.72%"),
            ),
            dict.fromkeys(_DOMAINS, "mask_probability"),
            "100 sentences in each domain, so the column over all is the mean of the three.",
        ),
        PaperTable(
            "paclic-1",
            "Tokenizers and corpora of the models",
            PACLIC,
            "table 1",
            ("model", "tokenizer", "corpus"),
            (
                ("Kyoto Univ. Ver.", "Juman++", "Wikipedia"),
                ("MeCab Ver.", "MeCab + NEologd (No sub-word tokenize)", "Articles of business news"),
                ("SP Ver.", "SentencePiece (do_lower_case = True)", "Wikipedia"),
                ("Tohoku Univ. Ver.", "MeCab + NEologd", "Wikipedia"),
                ("NICT Ver.", "MeCab + Jumandic", "Wikipedia"),
                ("Laboro Ver.", "SentencePiece", "Texts on the Internet (12GB)"),
            ),
            {},
            "One of the two digital texts of the paper has MeCab + Juman++ for NICT Ver.",
        ),
        PaperTable(
            "paclic-5",
            "How the models were pretrained (appendix A)",
            PACLIC,
            "table 5",
            ("model", "model size", "whole word masking", "vocabulary size", "max_seq_length"),
            (
                ("Kyoto Univ. Ver.", "Base", "No", "32,000", "128"),
                ("MeCab Ver.", "Base", "No", "32,000", "No Info"),
                ("SP Ver.", "Base", "No", "32,000", "No Info"),
                ("Tohoku Univ. Ver.", "Base", "No", "32,000", "512"),
                ("NICT Ver.", "Base", "No", "32,000", "Ph1-128 Ph2-512"),
                ("Laboro Ver.", "Base", "No", "32,000", "Ph1-128 Ph2-512"),
            ),
            {},
            '"No Info": the authors found it neither in the configuration nor on the publisher\'s page. Ph1, Ph2: two '
            "phases of pretraining.",
        ),
        PaperTable(
            "nlp-2",
            "Dispersions and score on 900 titles of livedoor news, the forerunner",
            NLP,
            "table 2",
            ("model", "A_m", "B_m", "score"),
            (
                ("Kyoto Univ. Ver.", "240164.31", "337.84", "710.88"),
                ("MeCab Ver.", "74470.61", "162.53", "458.19"),
                ("SP Ver.", "65220.69", "97.50", "668.92"),
                ("Tohoku Univ. Ver.", "48720.21", "61.49", "792.34"),
            ),
            _DISPERSIONS,
            "MeCab Ver. was tokenized with sub-words, which its publisher did not mean.",
            (MECAB,),
        ),
        PaperTable(
            "nlp-3",
            "Accuracy of the check by classification, the forerunner",
            NLP,
            "table 3",
            ("model", "minimum", "maximum", "mean"),
            (
                ("Kyoto Univ. Ver.", "68.89%", "71.11%", "70.00%"),
                ("MeCab Ver.", "67.78%", "70.00%", "69.11%"),
                ("SP Ver.", "68.89%", "70.56%", "69.78%"),
                ("Tohoku Univ. Ver.", "66.11%", "70.00%", "68.67%"),
            ),
            dict.fromkeys(("minimum", "maximum", "mean"), "classification_accuracy"),
            "Five runs on 180 test titles. The means differ by 1.33 points at most, which is 2.4 titles; the 95% interval "
            "of 70% at 180 titles is 63 to 76%.",
            (MECAB,),
        ),
    )
}

# Kinds of runs -> (table, column) that stand for them, for each two kinds that one paper compares.
COMPARED: dict[tuple[str, str], tuple[tuple[str, str], tuple[str, str]]] = {
    ("clusters", "fill-mask"): (("paclic-2", "score"), ("paclic-4", "all")),
    ("clusters", "classification"): (("nlp-2", "score"), ("nlp-3", "mean")),
}
