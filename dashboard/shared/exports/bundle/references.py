"""The works that a methods paragraph cites, as BibTeX. Pure.

Fields are written only where they are certain: an entry without pages is complete enough to be found by its title.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.models.sources.names import without_label
from engine.models.sources.paper_cards import PAPER_CARDS


@dataclass(frozen=True)
class Work:
    """One entry: its type, authors ("family, given" joined by "and"), title, year, and other fields by name."""

    type: str
    author: str
    title: str
    year: int
    fields: Mapping[str, str] = field(default_factory=dict)


def _acl(author: str, title: str, year: int, venue: str, **fields: str) -> Work:
    return Work("inproceedings", author, title, year, {"booktitle": venue, **fields})


def _article(author: str, title: str, year: int, journal: str, volume: str, pages: str, number: str = "") -> Work:
    return Work(
        "article",
        author,
        title,
        year,
        {"journal": journal, "volume": volume, **({"number": number} if number else {}), "pages": pages},
    )


_EMNLP = "Proceedings of the {} Conference on Empirical Methods in Natural Language Processing (EMNLP)"

WORKS: Mapping[str, Work] = {
    "shibayama2020clustering": _acl(
        "Shibayama, Naoki and Cao, Rui and Bai, Jing and Ma, Wen and Shinnou, Hiroyuki",
        "Evaluation of Pretrained {BERT} Model by Using Sentence Clustering",
        2020,
        "Proceedings of the 34th Pacific Asia Conference on Language, Information and Computation (PACLIC 34)",
    ),
    "shibayama2020nlp": _acl(
        "芝山, 直希 and 曹, 鋭 and 白, 静 and 馬, ブン and 新納, 浩幸",
        "文のクラスタリングを用いた {BERT} 事前学習モデルの評価",
        2020,
        "言語処理学会第26回年次大会発表論文集",
        pages="1233--1236",
    ),
    "novelbertscore": Work(
        "misc",
        "{Authors of the paper on BERTScore for Japanese novels}",
        "{BERTScore} for the translation of {Japanese} novels, with a penalty by the edit distance of readings",
        0,
        {"note": "Description, not the printed title: complete author, title, venue and year before you publish"},
    ),
    "ueda2024": _acl(
        "上田, 直生也 and 三田, 雅人 and 小町, 守",
        "{Minimal-pair Paradigm} データセットにおけるトークン長バイアスの分析と改善",
        2024,
        "言語処理学会第30回年次大会発表論文集",
    ),
    "zhang2020bertscore": _acl(
        "Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and Artzi, Yoav",
        "{BERTScore}: Evaluating Text Generation with {BERT}",
        2020,
        "International Conference on Learning Representations (ICLR)",
        url="https://openreview.net/forum?id=SkeHuCVFDr",
    ),
    "reimers2019sbert": _acl(
        "Reimers, Nils and Gurevych, Iryna",
        "Sentence-{BERT}: Sentence Embeddings using {Siamese} {BERT}-Networks",
        2019,
        "Proceedings of the 2019 Conference on Empirical Methods in Natural Language Processing and the 9th "
        "International Joint Conference on Natural Language Processing (EMNLP-IJCNLP)",
        pages="3982--3992",
        doi="10.18653/v1/D19-1410",
    ),
    "wolf2020transformers": _acl(
        "Wolf, Thomas and Debut, Lysandre and Sanh, Victor and Chaumond, Julien and Delangue, Clement and Moi, Anthony "
        "and others",
        "Transformers: State-of-the-Art Natural Language Processing",
        2020,
        "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing: System Demonstrations",
        pages="38--45",
        doi="10.18653/v1/2020.emnlp-demos.6",
    ),
    "kauf2023": _acl(
        "Kauf, Carina and Ivanova, Anna",
        "A Better Way to Do Masked Language Model Scoring",
        2023,
        "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics (Volume 2: Short "
        "Papers)",
        pages="925--935",
        doi="10.18653/v1/2023.acl-short.80",
    ),
    "charpentier2024": _acl(
        "Charpentier, Lucas Georges Gabriel and Samuel, David",
        "{GPT} or {BERT}: why not both?",
        2024,
        "The 2nd {BabyLM} Challenge at the 28th Conference on Computational Natural Language Learning",
    ),
    "nostalgebraist2020": Work(
        "misc",
        "{nostalgebraist}",
        "interpreting {GPT}: the logit lens",
        2020,
        {"note": "Blog post, LessWrong"},
    ),
    "kuribayashi2025": _article(
        "Kuribayashi, Tatsuki and Oseki, Yohei and Ben Taieb, Souhaib and Inui, Kentaro and Baldwin, Timothy",
        "Large Language Models Are Human-Like Internally",
        2025,
        "Transactions of the Association for Computational Linguistics",
        "13",
        "1743--1766",
    ),
    "salazar2020": _acl(
        "Salazar, Julian and Liang, Davis and Nguyen, Toan Q. and Kirchhoff, Katrin",
        "Masked Language Model Scoring",
        2020,
        "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics",
        pages="2699--2712",
        doi="10.18653/v1/2020.acl-main.240",
    ),
    "gao2020pile": Work(
        "misc",
        "Gao, Leo and Biderman, Stella and Black, Sid and Golding, Laurence and Hoppe, Travis and Foster, Charles and "
        "Phang, Jason and He, Horace and Thite, Anish and Nabeshima, Noa and Presser, Shawn and Leahy, Connor",
        "The {Pile}: An {800GB} Dataset of Diverse Text for Language Modeling",
        2020,
        {"eprint": "2101.00027", "archivePrefix": "arXiv"},
    ),
    "nangia2020crows": _acl(
        "Nangia, Nikita and Vania, Clara and Bhalerao, Rasika and Bowman, Samuel R.",
        "{CrowS-Pairs}: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
        2020,
        _EMNLP.format("2020"),
        pages="1953--1967",
        doi="10.18653/v1/2020.emnlp-main.154",
    ),
    "pauls2012": _acl(
        "Pauls, Adam and Klein, Dan",
        "Large-Scale Syntactic Language Modeling with Treelets",
        2012,
        "Proceedings of the 50th Annual Meeting of the Association for Computational Linguistics",
        pages="959--968",
    ),
    "lau2017": _article(
        "Lau, Jey Han and Clark, Alexander and Lappin, Shalom",
        "Grammaticality, Acceptability, and Probability: A Probabilistic View of Linguistic Knowledge",
        2017,
        "Cognitive Science",
        "41",
        "1202--1241",
        "5",
    ),
    "tjuatja2025": _acl(
        "Tjuatja, Lindia and Neubig, Graham and Linzen, Tal and Hao, Sophie",
        "What Goes Into a {LM} Acceptability Judgment? Rethinking the Impact of Frequency and Length",
        2025,
        "Proceedings of the 2025 Conference of the Nations of the Americas Chapter of the Association for "
        "Computational Linguistics: Human Language Technologies (Volume 1: Long Papers)",
        pages="2173--2186",
    ),
    "ide2025": _acl(
        "Ide, Yusuke and Nishida, Yuto and Vasselli, Justin and Oba, Miyu and Sakai, Yusuke and Kamigaito, Hidetaka and "
        "Watanabe, Taro",
        "How to Make the Most of {LLM}s' Grammatical Knowledge for Acceptability Judgments",
        2025,
        "Proceedings of the 2025 Conference of the Nations of the Americas Chapter of the Association for "
        "Computational Linguistics: Human Language Technologies (Volume 1: Long Papers)",
        pages="7416--7432",
    ),
    "pimentel2024": _acl(
        "Pimentel, Tiago and Meister, Clara",
        "How to Compute the Probability of a Word",
        2024,
        _EMNLP.format(2024),
        pages="18358--18375",
    ),
    "oh2024": _acl(
        "Oh, Byung-Doh and Schuler, William",
        "Leading Whitespaces of Language Models' Subword Vocabulary Pose a Confound for Calculating Word Probabilities",
        2024,
        _EMNLP.format(2024),
    ),
    "liu2026": _article(
        "Liu, Yikang and Shen, Yeting and Zhu, Hongao and Xu, Lilong and Qian, Zhiheng and Song, Siyuan and Zhang, "
        "Kejia and Tang, Jialong and Zhang, Pei and Yang, Baosong and Wang, Rui and Hu, Hai",
        "A Systematic Assessment of Language Models with Linguistic Minimal Pairs in {Chinese}",
        2026,
        "Transactions of the Association for Computational Linguistics",
        "14",
        "755--771",
    ),
    "graham2014": _acl(
        "Graham, Yvette and Baldwin, Timothy",
        "Testing for Significance of Increased Correlation with Human Judgment",
        2014,
        "Proceedings of the 2014 Conference on Empirical Methods in Natural Language Processing (EMNLP)",
        pages="172--176",
        doi="10.3115/v1/D14-1020",
    ),
    "williams1959": Work("book", "Williams, Evan J.", "Regression Analysis", 1959, {"publisher": "Wiley"}),
    "fisher1921": _article(
        "Fisher, R. A.",
        "On the ``Probable Error'' of a Coefficient of Correlation Deduced from a Small Sample",
        1921,
        "Metron",
        "1",
        "3--32",
    ),
    "efron1981": _article(
        "Efron, Bradley",
        "Nonparametric Standard Errors and Confidence Intervals",
        1981,
        "Canadian Journal of Statistics",
        "9",
        "139--158",
        "2",
    ),
    "long1997": _article(
        "Long, Jeffrey D. and Cliff, Norman",
        "Confidence Intervals for {Kendall}'s Tau",
        1997,
        "British Journal of Mathematical and Statistical Psychology",
        "50",
        "31--41",
        "1",
    ),
    "bonett2000": _article(
        "Bonett, Douglas G. and Wright, Thomas A.",
        "Sample Size Requirements for Estimating {Pearson}, {Kendall} and {Spearman} Correlations",
        2000,
        "Psychometrika",
        "65",
        "23--28",
        "1",
    ),
    "fieller1957": _article(
        "Fieller, E. C. and Hartley, H. O. and Pearson, E. S.",
        "Tests for Rank Correlation Coefficients. {I}",
        1957,
        "Biometrika",
        "44",
        "470--481",
    ),
    "warstadt2019": _article(
        "Warstadt, Alex and Singh, Amanpreet and Bowman, Samuel R.",
        "Neural Network Acceptability Judgments",
        2019,
        "Transactions of the Association for Computational Linguistics",
        "7",
        "625--641",
    ),
    "gauthier2020": _acl(
        "Gauthier, Jon and Hu, Jennifer and Wilcox, Ethan and Qian, Peng and Levy, Roger",
        "{SyntaxGym}: An Online Platform for Targeted Evaluation of Language Models",
        2020,
        "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics: System Demonstrations",
        pages="70--76",
    ),
    "chang2022": _article(
        "Chang, Tyler A. and Bergen, Benjamin K.",
        "Word Acquisition in Neural Language Models",
        2022,
        "Transactions of the Association for Computational Linguistics",
        "10",
        "1--16",
    ),
    "delong1988": _article(
        "DeLong, Elizabeth R. and DeLong, David M. and Clarke-Pearson, Daniel L.",
        "Comparing the Areas under Two or More Correlated Receiver Operating Characteristic Curves: A Nonparametric Approach",
        1988,
        "Biometrics",
        "44",
        "837--845",
        "3",
    ),
    "wilson1927": _article(
        "Wilson, Edwin B.",
        "Probable Inference, the Law of Succession, and Statistical Inference",
        1927,
        "Journal of the American Statistical Association",
        "22",
        "209--212",
        "158",
    ),
    "miller2024": Work(
        "misc",
        "Miller, Evan",
        "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations",
        2024,
        {"eprint": "2411.00640", "archivePrefix": "arXiv"},
    ),
    "korn1998": _article(
        "Korn, Edward L. and Graubard, Barry I.",
        "Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data",
        1998,
        "Survey Methodology",
        "24",
        "193--201",
        "2",
    ),
    "mcnemar1947": _article(
        "McNemar, Quinn",
        "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages",
        1947,
        "Psychometrika",
        "12",
        "153--157",
        "2",
    ),
    "holm1979": _article(
        "Holm, Sture",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        1979,
        "Scandinavian Journal of Statistics",
        "6",
        "65--70",
        "2",
    ),
    "efron1993": Work(
        "book",
        "Efron, Bradley and Tibshirani, Robert J.",
        "An Introduction to the Bootstrap",
        1993,
        {"publisher": "Chapman and Hall"},
    ),
    "phipson2010": _article(
        "Phipson, Belinda and Smyth, Gordon K.",
        "Permutation {P}-values Should Never Be Zero: "
        "Calculating Exact {P}-values When Permutations Are Randomly Drawn",
        2010,
        "Statistical Applications in Genetics and Molecular Biology",
        "9",
        "Article 39",
        "1",
    ),
    "su2021whitening": Work(
        "misc",
        "Su, Jianlin and Cao, Jiarun and Liu, Weijie and Ou, Yangyiwen",
        "Whitening Sentence Representations for Better Semantics and Faster Retrieval",
        2021,
        {"eprint": "2103.15316", "archivePrefix": "arXiv"},
    ),
    "mu2018": Work(
        "inproceedings",
        "Mu, Jiaqi and Viswanath, Pramod",
        "All-but-the-Top: Simple and Effective Postprocessing for Word Representations",
        2018,
        {"booktitle": "International Conference on Learning Representations (ICLR)"},
    ),
    "mcinnes2018umap": Work(
        "misc",
        "McInnes, Leland and Healy, John and Melville, James",
        "{UMAP}: Uniform Manifold Approximation and Projection for Dimension Reduction",
        2018,
        {"eprint": "1802.03426", "archivePrefix": "arXiv"},
    ),
    "pedregosa2011": _article(
        "Pedregosa, Fabian and Varoquaux, Gaël and Gramfort, Alexandre and Michel, Vincent and Thirion, Bertrand and "
        "Grisel, Olivier and others",
        "Scikit-learn: Machine Learning in {Python}",
        2011,
        "Journal of Machine Learning Research",
        "12",
        "2825--2830",
    ),
    "post2018": _acl(
        "Post, Matt",
        "A Call for Clarity in Reporting {BLEU} Scores",
        2018,
        "Proceedings of the Third Conference on Machine Translation: Research Papers",
        pages="186--191",
        doi="10.18653/v1/W18-6319",
    ),
    "papineni2002": _acl(
        "Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
        "{BLEU}: a Method for Automatic Evaluation of Machine Translation",
        2002,
        "Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics",
        pages="311--318",
        doi="10.3115/1073083.1073135",
    ),
    "popovic2015": _acl(
        "Popović, Maja",
        "{chrF}: character n-gram {F}-score for automatic {MT} evaluation",
        2015,
        "Proceedings of the Tenth Workshop on Statistical Machine Translation",
        pages="392--395",
        doi="10.18653/v1/W15-3049",
    ),
    "rousseeuw1987": _article(
        "Rousseeuw, Peter J.",
        "Silhouettes: A Graphical Aid to the Interpretation and Validation of Cluster Analysis",
        1987,
        "Journal of Computational and Applied Mathematics",
        "20",
        "53--65",
    ),
    "calinski1974": _article(
        "Caliński, T. and Harabasz, J.",
        "A Dendrite Method for Cluster Analysis",
        1974,
        "Communications in Statistics",
        "3",
        "1--27",
        "1",
    ),
    "davies1979": _article(
        "Davies, David L. and Bouldin, Donald W.",
        "A Cluster Separation Measure",
        1979,
        "IEEE Transactions on Pattern Analysis and Machine Intelligence",
        "PAMI-1",
        "224--227",
        "2",
    ),
    "rosenberg2007": _acl(
        "Rosenberg, Andrew and Hirschberg, Julia",
        "{V}-Measure: A Conditional Entropy-Based External Cluster Evaluation Measure",
        2007,
        "Proceedings of the 2007 Joint Conference on Empirical "
        "Methods in Natural Language Processing and Computational Natural Language Learning "
        "(EMNLP-CoNLL)",
        pages="410--420",
    ),
    "hubert1985": _article(
        "Hubert, Lawrence and Arabie, Phipps",
        "Comparing Partitions",
        1985,
        "Journal of Classification",
        "2",
        "193--218",
    ),
    "strehl2002": _article(
        "Strehl, Alexander and Ghosh, Joydeep",
        "Cluster Ensembles---A Knowledge Reuse Framework for Combining Multiple Partitions",
        2002,
        "Journal of Machine Learning Research",
        "3",
        "583--617",
    ),
}


def model_work(name: str, revision: str | None) -> Work | None:
    """What is cited for a model: its page, with the revision; None for a built-in or local one, which has none."""
    name = without_label(name)
    card_name, _, _ = name.partition("=")
    pinned = {"note": f"Revision {revision}"} if revision else {}
    if card_name in PAPER_CARDS:
        card = PAPER_CARDS[card_name]
        return Work(
            "misc",
            f"{{{card.publisher}}}",
            f"{{{card_name.removeprefix('paper/')}}}",
            0,
            {"howpublished": card.url, **pinned},
        )
    plain = name.partition("@")[0]
    parts = plain.split("/")
    if (
        plain.startswith(("builtin/", "endpoint/", "scores/", "vectors/", "/", ".", "~"))
        or len(parts) > 2
        or not revision
    ):
        return None
    return Work(
        "misc",
        f"{{{parts[0] if len(parts) > 1 else 'Hugging Face'}}}",
        f"{{{plain}}}",
        0,
        {"howpublished": f"https://huggingface.co/{plain}", **pinned},
    )


def bibtex(works: Mapping[str, Work], cited: Iterable[str]) -> str:
    """The cited entries as BibTeX, in the order of their keys."""
    return "\n".join(_entry(key, works[key]) for key in sorted(set(cited)))


def _entry(key: str, work: Work) -> str:
    year = {"year": str(work.year)} if work.year else {}
    fields = {"author": work.author, "title": work.title, **work.fields, **year}
    lines = [f"  {name} = {{{_value(name, value)}}}," for name, value in fields.items()]
    return "\n".join([f"@{work.type}{{{key},", *lines, "}", ""])


def _value(name: str, value: str) -> str:
    if name == "howpublished":
        return rf"\url{{{value}}}"
    if name in ("url", "doi", "eprint"):
        return value
    for character in "&%$#_":
        value = value.replace(character, f"\\{character}")
    return value
