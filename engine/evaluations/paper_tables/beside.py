"""A run's own numbers in the places of a paper's table, where the data are comparable; else why they are not.

The papers published neither the sentences that they drew nor their scores, so that "comparable" means the same corpus
in the same sizes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from engine.evaluations.alignment.records import Scoring
from engine.evaluations.fill_mask.records import ALL
from engine.evaluations.paper_tables import length_bias, novels, sentence_clustering
from engine.evaluations.paper_tables.printed import PaperTable
from engine.evaluations.shared.declared_tables import Column, Table
from engine.language.quantities import count
from engine.messages.message import Message, list_of, together
from engine.models.sources.names import shown_name, without_label
from engine.models.sources.paper_cards import CLUSTERS, LENGTH_BIAS, NOVELS, PAPER_CARDS

VALUES = Table(
    "beside",
    Message("A row for each number of a run that has a place in a paper's table."),
    (
        Column("model", "text", "the model of the run", since="0.3.0"),
        Column(
            "row",
            "text",
            "the row of the paper's table, or the run's model where the paper has no row for it",
            since="0.3.0",
        ),
        Column("column", "text", "the column of the paper's table", since="0.3.0"),
        Column("value", "number", "the run's number, in the unit of `PaperTable.values`", since="0.3.0"),
    ),
    since="0.3.0",
)

# Folders of the corpus and the names that the paper has for its nine categories.
LIVEDOOR = (
    {
        "dokujo-tsushin",
        "it-life-hack",
        "kaden-channel",
        "livedoor-homme",
        "movie-enter",
        "peachy",
        "smax",
        "sports-watch",
        "topic-news",
    },
    {
        "独女通信",
        "itライフハック",
        "家電チャンネル",
        "livedoorhomme",
        "movieenter",
        "peachy",
        "エスマックス",
        "sportswatch",
        "トピックニュース",
    },
)
PER_CATEGORY = 100
# The nouns of each domain of Webis-CLS-10 that the paper masked (section 3.3), in sentences of their own each.
NOUNS: Mapping[str, Collection[str]] = {
    domain: nouns.split()
    for domain, nouns in {
        "books": "本 人 著者 内容 自分 作品 本書 感じ 文章 主人公 小説 部分 最後 言葉 読者 作者 人間 物語 他 世界",
        "dvd": "映画 作品 人 シーン 映像 原作 自分 ストーリー 内容 ファン 感じ 主人公 最後 アニメ ドラマ 物語 人間 世界 "
        "子供 部分",
        "music": "曲 アルバム 作品 人 音楽 感じ ファン 音 バンド 自分 歌詞 声 ギター 歌 CD 楽曲 サウンド ライブ シングル "
        "前作",
    }.items()
}
PER_DOMAIN = 100

Row = tuple[str, str, str, float]


@dataclass(frozen=True)
class Beside:
    """A paper's table and, if the data are comparable, a run's own numbers in its places (`VALUES`).

    reason: why they are comparable, and how far, or why not; "" for a table without numbers of models.
    """

    printed: PaperTable
    values: pd.DataFrame
    is_comparable: bool = False
    reason: str = ""


def beside(kind: str, result: Any) -> list[Beside]:
    """The papers' tables on a kind of evaluation, each with what a result of that kind has for it; [] for others."""
    return _BY_KIND[kind](result) if kind in _BY_KIND else []


def label_of(model: str, paper: str) -> str | None:
    """What a paper calls a model of a run: by its card, or by its name on the hub; None for a model of no paper.

    >>> label_of("paper/nict=/srv/nict", CLUSTERS), label_of("cl-tohoku/bert-base-japanese@main", CLUSTERS)
    ('NICT Ver.', 'Tohoku Univ. Ver.')
    """
    model = without_label(model)
    card = PAPER_CARDS.get(model.partition("=")[0]) or next(
        (card for card in PAPER_CARDS.values() if card.hub and card.hub == model.partition("@")[0]), None
    )
    return dict(card.labels).get(paper) if card else None


def _clusters(result: Any) -> list[Beside]:
    sizes = dict(zip(result.classes["class"], result.classes["n"], strict=True))
    fault = _other_titles(result.dataset_name, sizes) or _other_vectors(result.settings)
    columns = {"A_m": "in_class_dispersion", "B_m": "out_of_class_dispersion", "score": "score"}
    return [
        *(_by_model(key, result.models, columns, fault, _TITLES) for key in ("paclic-2", "nlp-2")),
        _printed_only("paclic-3"),
        *_MODELS_OF_THE_PAPER,
    ]


def _classification(result: Any) -> list[Beside]:
    classes = result.classes.drop_duplicates("class")
    sizes = dict(zip(classes["class"], classes["n_train"] + classes["n_test"], strict=True))
    settings = result.settings
    fault = _other_titles(result.dataset_name, sizes) or _other_vectors(settings)
    if not fault and (settings.split, settings.test_share, settings.epochs, set(settings.hidden), settings.seeds) != (
        "tail",
        0.2,
        20,
        {200},
        5,
    ):
        fault = Message(
            "Not comparable: the paper trained 20 epochs with hidden layers of 200, tested the last fifth "
            "of each category, five times; this run has other settings."
        )
    columns = {"minimum": "accuracy_min", "maximum": "accuracy_max", "mean": "accuracy_mean"}
    return [_by_model("nlp-3", result.models, columns, fault, _TITLES), *_MODELS_OF_THE_PAPER]


def _fill_mask(result: Any) -> list[Beside]:
    nouns = {domain: set(map(_plain, labels)) for domain, labels in result.sentences.groupby("domain")["label"]}
    domains = {
        _plain(domain).removesuffix("s") if _plain(domain).startswith("dvd") else _plain(domain): domain
        for domain in nouns
    }
    sizes = result.sentences["domain"].value_counts()
    wanted = {domain: set(map(_plain, of_domain)) for domain, of_domain in NOUNS.items()}
    masked = sum(len(of_domain & nouns.get(domains.get(domain, ""), set())) for domain, of_domain in wanted.items())
    same = set(domains) == set(NOUNS) and all(
        nouns[domains[domain]] == of_domain and sizes[domains[domain]] == PER_DOMAIN
        for domain, of_domain in wanted.items()
    )
    fault = (
        ""
        if same
        else Message(
            "Not comparable: other data. The paper's are 100 sentences of Japanese reviews of "
            "books, DVDs and music each, with 20 nouns of each domain masked; this run's, "
            "{dataset_name}, are {sentences} of {nouns}, in which {masked} of the paper's 60 "
            "nouns are masked.",
            dataset_name=result.dataset_name,
            sentences=count(len(result.sentences), "sentence"),
            nouns=count(len(nouns), "domain"),
            masked=masked,
        )
    )
    if fault:
        return [Beside(sentence_clustering.TABLES["paclic-4"], VALUES.frame(), reason=fault), *_MODELS_OF_THE_PAPER]
    table = result.models.pivot(index="model", columns="domain", values="mean_probability").reset_index()
    columns = {"books": "books", "DVDs": "dvd", "music": "music"}
    own = {column: domains.get(name, name) for column, name in columns.items()} | {"all": ALL}
    return [
        _by_model(
            "paclic-4",
            table,
            own,
            "",
            Message(
                "Comparable: the same corpus, domains, nouns and numbers of "
                "sentences. The paper drew five sentences for each noun and "
                "did not publish which."
            ),
        ),
        *_MODELS_OF_THE_PAPER,
    ]


def _metric_study(result: Any) -> list[Beside]:
    table = novels.GRID_TABLE
    n_annotators = sum(str(column).startswith("human:") for column in result.pairs)
    if len(result.pairs) != novels.N_PAIRS or n_annotators != novels.N_ANNOTATORS:
        return [
            Beside(
                table,
                VALUES.frame(),
                reason=Message(
                    "Not comparable: other data. The paper's {N_PAIRS} pairs "
                    "with the scores of {N_ANNOTATORS} evaluators were not "
                    "published; this run's, {dataset_name}, are {pairs} with "
                    "those of {n_annotators}.",
                    N_PAIRS=novels.N_PAIRS,
                    N_ANNOTATORS=novels.N_ANNOTATORS,
                    dataset_name=result.dataset_name,
                    pairs=count(len(result.pairs), "pair"),
                    n_annotators=n_annotators,
                ),
            )
        ]
    if others := _other_scoring(result.settings):
        return [
            Beside(
                table,
                VALUES.frame(),
                reason=Message(
                    "Not comparable: the paper correlates F1 at the last "
                    "layer under the scoring that is the default here; this "
                    "run has other settings ({others}).",
                    others=list_of(others),
                ),
            )
        ]
    grid = result.correlations[result.correlations["kind"] == "bertscore"]
    rows = [
        (
            row["model"],
            (label_of(row["model"], NOVELS) or shown_name(row["model"])).removesuffix(" Model"),
            novels.COLUMNS[row["idf"], row["penalty"]],
            row["pearson"],
        )
        for row in grid.to_dict("records")
        if (row["idf"], row["penalty"]) in novels.COLUMNS
    ]
    return [
        _comparable(
            table,
            rows,
            Message(
                "Comparable if these are the paper's {N_PAIRS} pairs, which were not "
                "published: pairs and annotators are as many.",
                N_PAIRS=novels.N_PAIRS,
            ),
        )
    ]


def _other_scoring(settings: Any) -> list[str]:
    """The settings of a metric study that are not the paper's, by name; idf and penalty are the columns of its table."""
    paper = Scoring()
    values = {"score": (settings.score, ("f1",)), "layer": (settings.layer, (None, -1))} | {
        part.name: (getattr(settings.scoring, part.name), (getattr(paper, part.name),))
        for part in fields(Scoring)
        if part.name not in ("idf", "penalty", "sounds")
    }
    values["sounds"] = settings.scoring.sounds, ("auto", "apart")
    return [name.replace("_", " ") for name, (value, of_paper) in values.items() if value not in of_paper]


def _minimal_pairs(result: Any) -> list[Beside]:
    return [_accuracies(result), _counts(result), Beside(length_bias.MODELS_TABLE, VALUES.frame())]


def _counts(result: Any) -> Beside:
    table = length_bias.COUNTS_TABLE
    n = len(result.items)
    layouts = {"CrowS-Pairs": ("CrowS-Pairs", "French CrowS-Pairs")}.get(result.format, (result.format,))
    dataset = next(
        (
            name
            for name in (*layouts, "Arabic MP" if result.right_to_left else "")
            if name in table.rows and length_bias.n_pairs(name) == n
        ),
        None,
    )
    if dataset is None:
        return Beside(
            table,
            VALUES.frame(),
            reason=(
                Message(
                    "Not comparable: other data. None of the paper's datasets has the {n} of {dataset_name}; of BLiMP "
                    "it took 31,000 pairs and does not say which.",
                    n=count(n, "pair"),
                    dataset_name=result.dataset_name,
                )
                if result.format == "BLiMP"
                else Message(
                    "Not comparable: other data. None of the paper's datasets has the {n} of {dataset_name}.",
                    n=count(n, "pair"),
                    dataset_name=result.dataset_name,
                )
            ),
        )
    family = length_bias.families(dataset)
    rows: list[Row] = []
    for model, pairs in result.pairs.groupby("model", sort=False):
        of_paper = family.get(label_of(str(model), LENGTH_BIAS) or "")
        difference = pairs["acceptable_tokens"] - pairs["unacceptable_tokens"]
        for stratum, held in zip(length_bias.STRATA, (difference == 0, difference > 0, difference < 0), strict=True):
            if of_paper:
                rows.append((str(model), dataset, f"{of_paper} {stratum}", float(held.sum())))
    none = [] if rows else [Message("But none of the run's models is among those of the paper.")]
    comparable = Message("Comparable: {dataset} with as many pairs.", dataset=dataset)
    return _comparable(table, rows, together(" ", [comparable, *none]))


def _accuracies(result: Any) -> Beside:
    table = length_bias.ACCURACIES_TABLE
    uid = next((column for column in result.items if str(column).casefold() == "field:uid"), None)
    uids = result.items[uid].str.casefold() if uid is not None and result.format == "BLiMP" else pd.Series(dtype="str")
    shared = {row: name for row, name in length_bias.UIDS.items() if (uids == name).sum() == 1000}
    if not shared:
        return Beside(
            table,
            VALUES.frame(),
            reason=Message(
                "Not comparable: other data. The paper's are phenomena of "
                "BLiMP, 1,000 English pairs each; {dataset_name} holds "
                "none of the ten in full.",
                dataset_name=result.dataset_name,
            ),
        )
    if result.settings.pll != "word-l2r":
        return Beside(
            table,
            VALUES.frame(),
            reason=Message(
                "Not comparable: the paper scores masked models by "
                "PLL-word-l2r; this run has another "
                "pseudo-log-likelihood."
            ),
        )
    family = length_bias.families("BLiMP")
    pairs = result.pairs.assign(uid=result.pairs["row"].map(dict(zip(result.items["row"], uids, strict=True))))
    pairs["right"] = pairs["acceptable_log_likelihood"] > pairs["unacceptable_log_likelihood"]
    rows: list[Row] = []
    for model, own in pairs.groupby("model", sort=False):
        of_paper = family.get(label_of(str(model), LENGTH_BIAS) or "")
        for row, name in shared.items() if of_paper else ():
            held = own[own["uid"] == name]
            equal = held[held["acceptable_tokens"] == held["unacceptable_tokens"]]
            rows.append((str(model), row, str(of_paper), 100 * float(held["right"].mean())))
            rows.append(
                (str(model), row, length_bias.BALANCED.format(family=of_paper), 100 * float(equal["right"].mean()))
            )
    comparable = Message(
        "Comparable: {shared} of the ten phenomena of BLiMP, in full, by the plain log-likelihood. "
        "Balanced here: the pairs whose sentences are of equal length to the model itself.",
        shared=len(shared),
    )
    none = [] if rows else [Message("But none of the run's models is one of the paper's three.")]
    return _comparable(table, rows, together(" ", [comparable, *none]))


def _by_model(key: str, models: pd.DataFrame, columns: Mapping[str, str], fault: str, reason: str) -> Beside:
    """A table with a row for each model; columns: of the table -> of `models`."""
    table = sentence_clustering.TABLES[key]
    if fault:
        return Beside(table, VALUES.frame(), reason=fault)
    rows: list[Row] = []
    for record in models.to_dict("records"):
        model = str(record["model"])
        label = label_of(model, CLUSTERS)
        row = label if label in table.rows and label not in table.used_otherwise else shown_name(model)
        rows += [(model, str(row), column, float(record[name])) for column, name in columns.items()]
    return _comparable(table, rows, reason)


def _comparable(table: PaperTable, rows: Iterable[Row], reason: str) -> Beside:
    named = [(model, row, str.__str__(column), value) for model, row, column, value in rows]  # heads may be messages
    return Beside(table, VALUES.frame(named), True, reason)


def _printed_only(key: str) -> Beside:
    return Beside(sentence_clustering.TABLES[key], VALUES.frame())


def _other_titles(dataset_name: str, sizes: Mapping[str, int]) -> str:
    """Why labelled sentences are not like the papers' titles; "" where they are."""
    categories = {_plain(name) for name in sizes}
    if categories in LIVEDOOR and set(sizes.values()) == {PER_CATEGORY} and "(bodies" not in dataset_name:
        return ""
    return Message(
        "Not comparable: other data. The paper's are 100 titles of each of the nine categories of the "
        "livedoor news corpus; this run's, {dataset_name}, are {values} of {sizes} classes.",
        dataset_name=dataset_name,
        values=count(sum(sizes.values()), "sentence"),
        sizes=len(sizes),
    )


def _other_vectors(settings: Any) -> str:
    if settings.normalize:
        return Message("Not comparable: the paper says nothing of normalised texts; this run normalises them.")
    if (
        settings.pooling in ("published", "cls")
        and settings.layer in (None, -1)
        and not settings.prompt
        and settings.truncate_dim is None
    ):
        return ""
    return Message("Not comparable: the paper takes the CLS vector of the last layer; this run takes other vectors.")


def _plain(name: str) -> str:
    """A name for comparison: NFKC, case folded, without spaces."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


_TITLES = Message(
    "Comparable: the same corpus, categories and numbers of titles. The paper does not say which 100 "
    "articles of each category it took, so that small differences mean nothing."
)
_MODELS_OF_THE_PAPER = tuple(map(_printed_only, ("paclic-1", "paclic-5")))
_BY_KIND: Mapping[str, Callable[[Any], list[Beside]]] = {
    "clusters": _clusters,
    "classification": _classification,
    "fill-mask": _fill_mask,
    "metric-study": _metric_study,
    "minimal-pairs": _minimal_pairs,
}
