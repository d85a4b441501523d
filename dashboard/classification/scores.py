"""The accuracies of a classification as tables and sentences: ranks, caveats, misclassified sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.ranks import UNBROKEN, rank_labels
from dashboard.shared.score_tables import draw_score_table
from dashboard.shared.theme import ARROWS, shortened, with_shown_models
from dashboard.shared.wording import verbatim
from engine.evaluations.classification.records import Result
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import sentences, tr, tr_n, translated
from engine.messages.message import list_of
from engine.models.sources.names import shown_name
from engine.options import option, option_of

MEASURE = "classification_accuracy"


@dataclass(frozen=True)
class ListedModel:
    """The choices of the page, as its address has them."""

    model: str = option(
        "",
        "The model whose misclassified sentences are listed; the best where none is named.",  # untranslated
    )


MODEL = option_of(ListedModel, "model")
NOT_LEARNT = 0.9  # training accuracy below which more epochs would have helped


def score_table(result: Result) -> None:
    """Draw a row for each model, the best first: rank, mean accuracy with its interval, extremes, training accuracy."""
    ranked = result.models.sort_values("rank", kind="stable")
    train_accuracy = result.runs.groupby("model")["train_accuracy"].mean()
    arrow = ARROWS[CARDS[MEASURE].better]
    header = [tr("Rank"), tr("Model"), tr("Mean {arrow}", arrow=arrow), tr("Min – max"), tr("Training accuracy")]
    rows = []
    for row, rank in zip(ranked.to_dict("records"), rank_labels(ranked, result.comparisons), strict=True):
        interval = f":small[:gray[{100 * row['ci_low']:.1f}{UNBROKEN}{100 * row['ci_high']:.1f}]]"
        rows.append(
            [
                rank,
                verbatim(shortened(row["model"], ranked["model"])),
                f"**{row['accuracy_mean']:.2%}** {interval}",
                f"{row['accuracy_min']:.2%}{UNBROKEN}{row['accuracy_max']:.2%}",
                f"{train_accuracy[row['model']]:.1%}",
            ]
        )
    draw_score_table(header, rows)


def size_summary(result: Result) -> str:
    """The numbers of training and test sentences, classes, runs and epochs, and whether more training would help."""
    first = result.models.iloc[0]
    settings = result.settings
    said = [
        tr_n(
            "{n_train:,} training sentences and {n_test:,} test sentences of {n_classes:,} classes; {n} run of {epochs:,} "
            "epochs.",
            "{n_train:,} training sentences and {n_test:,} test sentences of {n_classes:,} classes; {n:,} runs of "
            "{epochs:,} epochs.",
            settings.seeds,
            n_train=first["n_train"],
            n_test=first["n_test"],
            n_classes=first["n_classes"],
            epochs=settings.epochs,
        )
    ]
    train_accuracy = result.runs.groupby("model")["train_accuracy"].mean()
    underfitted = [
        shortened(str(model), train_accuracy.index) for model, share in train_accuracy.items() if share < NOT_LEARNT
    ]
    if underfitted and not settings.standardize:
        if len(underfitted) == len(train_accuracy):
            said.append(
                tr(
                    "The training accuracy is below {limit:.0%}: standardising the vectors, or more "
                    "epochs, usually raises it, but not necessarily the test accuracy.",
                    limit=NOT_LEARNT,
                )
            )
        else:
            said.append(
                tr(
                    "The training accuracy of {models} is below {limit:.0%}: standardising the vectors, or "
                    "more epochs, usually raises it, but not necessarily the test accuracy.",
                    models=translated(list_of(underfitted)),
                    limit=NOT_LEARNT,
                )
            )
    return sentences(*said)


def comparisons(result: Result) -> None:
    """Draw the difference in mean accuracy of every two models, compared sentence by sentence."""
    table = with_shown_models(result.comparisons)
    columns = {
        name: st.column_config.NumberColumn(label, format="percent")
        for name, label in (
            ("difference", tr("Difference in accuracy")),
            ("ci_low", tr("95% from")),
            ("ci_high", tr("95% to")),
        )
    }
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        alt=tr("Differences of the accuracy between models"),
        column_config={
            "model": tr("Model"),
            "other": tr("Compared with"),
            **columns,
            "separable": st.column_config.CheckboxColumn(
                tr("Significant"), help=tr("The 95% interval of the difference excludes 0.")
            ),
        },
    )


def class_table(result: Result) -> None:
    """Draw the accuracy of each class under each model: a row for each class, a column for each model."""
    order = result.models.sort_values("rank", kind="stable")["model"].tolist()
    st.dataframe(
        accuracy_by_class(result, order),
        hide_index=True,
        placeholder="–",
        alt=tr("Accuracy of each class under each model"),
        column_config={
            "class": tr("Class"),
            "n_train": st.column_config.NumberColumn(tr("Training sentences"), width="small"),
            "n_test": st.column_config.NumberColumn(
                tr("Test sentences"), width="small", help=tr("In one training run.")
            ),
            **{
                f"accuracy:{shown_name(model)}": st.column_config.NumberColumn(
                    shortened(model, order), format="percent"
                )
                for model in order
            },
        },
    )


def accuracy_by_class(result: Result, models: Sequence[str]) -> pd.DataFrame:
    """A row for each class, in the order of the result: class, n_train, n_test, and accuracy:<model> for each model.

    A model by its label if it has one, which may be the name of a column.
    """
    sizes = result.classes.drop_duplicates("class")[["class", "n_train", "n_test"]].reset_index(drop=True)
    accuracies = result.classes.pivot(index="class", columns="model", values="accuracy")
    for model in models:
        sizes[f"accuracy:{shown_name(model)}"] = sizes["class"].map(accuracies[model])
    return sizes


def misclassified_sentences(result: Result, view: PageAddress) -> None:
    """Draw the test sentences misclassified in every run under one model, with the class predicted most often."""
    models = result.models.sort_values("rank", kind="stable")["model"].tolist()
    model = view.first(MODEL, models[0], offered=models)
    if len(models) > 1:
        model = st.pills(
            tr("Model"),
            models,
            default=model,
            required=True,
            key=view.key("missed"),
            format_func=lambda name: verbatim(shortened(name, models)),
            label_visibility="collapsed",
        )
    view.keep(MODEL, model, models[0])
    misclassified = never_correct(result.sentences, model)
    n_tested = int((result.sentences["model"] == model).sum())
    st.caption(
        tr("{n:,} of {total:,} test sentences were misclassified in every run.", n=len(misclassified), total=n_tested)
    )
    st.dataframe(
        with_shown_models(misclassified),
        hide_index=True,
        height=min(320, 38 + 35 * max(1, len(misclassified))),
        placeholder="–",
        alt=tr("Sentences misclassified in every run"),
        column_order=["row", "text", "class", "predicted", "n_asked"],
        column_config={
            "row": st.column_config.NumberColumn(tr("Row"), width="small"),
            "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
            "class": tr("True"),
            "predicted": st.column_config.TextColumn(tr("Predicted"), help=tr("The class predicted most often.")),
            "n_asked": st.column_config.NumberColumn(
                tr("Training runs"), width="small", help=tr("The number of training runs in whose test set it was.")
            ),
        },
    )


def never_correct(sentences: pd.DataFrame, model: str) -> pd.DataFrame:
    """The rows of `Result.sentences` that were correct in no run under a model, those tested most often first."""
    wrong = sentences[(sentences["model"] == model) & (sentences["n_correct"] == 0)]
    return wrong.sort_values(["n_asked", "row"], ascending=[False, True], kind="stable")
