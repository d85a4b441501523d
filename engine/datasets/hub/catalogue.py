"""The field's benchmarks that Hakari reads: what each is, where it is published, its licence and size, and its layout.

Names at the hub and sizes are as published; none of the data is part of Hakari.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages.message import Message, named

NOT_EXAMINED = Message("not examined")


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    kinds: of the evaluations that take it. hub: its name for `--data`, "" where it must be downloaded and given as a
    file. language: an identifier. n_rows: as published, None where that depends on the part. layout: as what it is read.
    """

    name: str
    kinds: tuple[str, ...]
    about: Message
    language: str
    n_rows: int | None
    licence: str
    layout: str
    source: str
    hub: str = ""


_PAIRS, _SCORED, _LABELLED = ("minimal-pairs",), ("alignment", "metric-study"), ("clusters", "classification")
_JUDGED, _SENTENCES = named("judged sentences"), Message("sentence pairs with human scores")
_SYNTAX = Message("minimal pairs of syntax, morphology and semantics")
_JUDGEMENTS = Message("sentences that linguists or speakers judged acceptable or not")
BENCHMARKS = (
    Benchmark(
        "BLiMP",
        _PAIRS,
        _SYNTAX,
        "en",
        67_000,
        "CC BY",
        "BLiMP",
        "https://github.com/alexwarstadt/blimp",
        "hub:nyu-mll/blimp:*",
    ),
    Benchmark(
        "JBLiMP",
        _PAIRS,
        _SYNTAX,
        "ja",
        331,
        NOT_EXAMINED,
        "JBLiMP",
        "https://github.com/osekilab/JBLiMP",
        "hub:polm-stability/jblimp",
    ),
    Benchmark(
        "ZhoBLiMP",
        _PAIRS,
        _SYNTAX,
        "zh",
        35_400,
        NOT_EXAMINED,
        "ZhoBLiMP",
        "https://github.com/sjtu-compling/ZhoBLiMP",
        "hub:Junrui1202/zhoblimp:*",
    ),
    Benchmark("CLiMP", _PAIRS, _SYNTAX, "zh", 16_000, NOT_EXAMINED, "CLiMP", "https://github.com/beileixiang/CLiMP"),
    Benchmark(
        "SLING", _PAIRS, _SYNTAX, "zh", 38_000, NOT_EXAMINED, "SLING", "https://github.com/Yixiao-Song/SLING_Data_Code"
    ),
    Benchmark(
        "BLiMP-NL",
        _PAIRS,
        _SYNTAX,
        "nl",
        8_400,
        NOT_EXAMINED,
        "BLiMP-NL",
        "https://huggingface.co/datasets/juletxara/blimp-nl",
        "hub:juletxara/blimp-nl:*",
    ),
    Benchmark(
        "RuBLiMP",
        _PAIRS,
        _SYNTAX,
        "ru",
        45_000,
        "Apache 2.0",
        "RuBLiMP",
        "https://github.com/RussianNLP/RuBLiMP",
        "hub:RussianNLP/rublimp:*",
    ),
    Benchmark(
        "TurBLiMP",
        _PAIRS,
        _SYNTAX,
        "tr",
        16_000,
        "CC BY 4.0",
        "TurBLiMP",
        "https://github.com/ezgibasar/TurBLiMP",
        "hub:juletxara/turblimp:*",
    ),
    Benchmark(
        "MultiBLiMP",
        _PAIRS,
        Message("agreement in 101 languages, a configuration for each"),
        "101",
        None,
        NOT_EXAMINED,
        "MultiBLiMP",
        "https://github.com/jumelet/multiblimp",
        "hub:jumelet/multiblimp:eng",
    ),
    Benchmark(
        "QFrBLiMP",
        _PAIRS,
        Message("minimal pairs of Quebec French"),
        "fr",
        1_761,
        "CC BY-NC-SA 4.0",
        "BLiMP",
        "https://github.com/davebulaval/QFrBLiMP",
        "hub:graalul/qfrblimp",
    ),
    Benchmark(
        "LINDSEA",
        _PAIRS,
        Message("minimal pairs of Indonesian and Tamil syntax"),
        "id, ta",
        850,
        "CC BY 4.0",
        "LINDSEA",
        "https://github.com/aisingapore/BHASA",
    ),
    Benchmark(
        "COMPS",
        _PAIRS,
        Message("properties of concepts"),
        "en",
        None,
        NOT_EXAMINED,
        "COMPS",
        "https://github.com/kanishkamisra/comps",
    ),
    Benchmark(
        "CrowS-Pairs",
        _PAIRS,
        Message("pairs of a more and a less stereotyping sentence"),
        "en",
        1_508,
        NOT_EXAMINED,
        "CrowS-Pairs",
        "https://github.com/nyu-mll/crows-pairs",
        "hub:nyu-mll/crows_pairs/test",
    ),
    Benchmark("JCoLA", _PAIRS, _JUDGEMENTS, "ja", 10_020, "CC BY-SA 4.0", "JCoLA", "https://github.com/osekilab/JCoLA"),
    Benchmark(
        "RuCoLA",
        _PAIRS,
        _JUDGEMENTS,
        "ru",
        13_445,
        Message("labels Apache 2.0"),
        "RuCoLA",
        "https://github.com/RussianNLP/RuCoLA",
        "hub:RussianNLP/rucola/validation",
    ),
    Benchmark(
        "ItaCoLA", _PAIRS, _JUDGEMENTS, "it", 9_722, NOT_EXAMINED, "ItaCoLA", "https://github.com/dhfbk/ItaCoLA-dataset"
    ),
    Benchmark("NoCoLA", _PAIRS, _JUDGEMENTS, "no", None, NOT_EXAMINED, _JUDGED, "https://github.com/ltgoslo/nocola"),
    Benchmark("CoLA", _PAIRS, _JUDGEMENTS, "en", 10_657, NOT_EXAMINED, "CoLA", "https://nyu-mll.github.io/CoLA"),
    Benchmark(
        "JSTS",
        _SCORED,
        Message("pairs of captions with similarities from 0 to 5"),
        "ja",
        1_457,
        "CC BY-SA 4.0",
        _SENTENCES,
        "https://github.com/yahoojapan/JGLUE",
        "hub:Rakuten/JGLUE:JSTS/validation",
    ),
    Benchmark(
        "JSICK",
        _SCORED,
        Message("SICK in Japanese, with relatedness from 1 to 5"),
        "ja",
        None,
        "CC BY 4.0",
        _SENTENCES,
        "https://github.com/verypluming/JSICK",
        "hub:mteb/JSICK/test",
    ),
    Benchmark(
        "STS-B",
        _SCORED,
        Message("pairs of captions, news and forum posts with similarities from 0 to 5"),
        "en",
        1_379,
        NOT_EXAMINED,
        _SENTENCES,
        "http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark",
        "hub:mteb/stsbenchmark-sts/test",
    ),
    Benchmark(
        "JRTE",
        (*_SCORED, *_LABELLED),
        Message("entailment and polarity of hotel reviews"),
        "ja",
        54_996,
        "CC BY-NC-SA 4.0",
        _SENTENCES,
        "https://github.com/megagonlabs/jrte-corpus",
    ),
    Benchmark(
        "MLQE-PE",
        _SCORED,
        Message("machine translations with direct assessments"),
        "11",
        None,
        NOT_EXAMINED,
        _SENTENCES,
        "https://github.com/sheffieldnlp/mlqe-pe",
    ),
    Benchmark(
        "WMT",
        _SCORED,
        Message("machine translations with scores of people; more than is read at once: take a language pair"),
        "many",
        None,
        NOT_EXAMINED,
        _SENTENCES,
        "https://github.com/google-research/mt-metrics-eval",
    ),
    Benchmark(
        "livedoor",
        _LABELLED,
        Message("news of nine categories"),
        "ja",
        7_367,
        "CC BY-ND 2.1 JP",
        Message("labelled sentences"),
        "https://www.rondhuit.com/download.html",
    ),
)


def of_kind(kind: str) -> tuple[Benchmark, ...]:
    """The benchmarks that an evaluation takes and the hub has."""
    return tuple(known for known in BENCHMARKS if kind in known.kinds and known.hub)
