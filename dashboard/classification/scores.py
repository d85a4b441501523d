"""The accuracies of a classification in words and numbers: ranks, what cannot be told apart, what was missed."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.ranks import UNBROKEN, rank_words
from dashboard.shared.theme import ARROWS, shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.classification.records import Result
from engine.language.quantities import count
from engine.measures.cards.catalog import CARDS

MEASURE = "classification_accuracy"
NOT_LEARNT = 0.9  # below this share of its training sentences right, more epochs would have taught more


def score_table(result: Result) -> None:
    """A line for each model, the best first: rank, mean accuracy with its interval, extremes, training sentences."""
    ranked = result.models.sort_values("rank", kind="stable")
    trained = result.runs.groupby("model")["train_accuracy"].mean()
    arrow = ARROWS[CARDS[MEASURE].better]
    rows = [["Rank", "Model", f"Mean {arrow}", "Min – max", "In training"],
            [":--:", ":--", "--:", "--:", "--:"]]
    for line, rank in zip(ranked.to_dict("records"), rank_words(ranked), strict=True):
        small = f":small[:gray[{100 * line['ci_low']:.1f}{UNBROKEN}{100 * line['ci_high']:.1f}]]"
        rows.append([rank, verbatim(shortened(line["model"])), f"**{line['accuracy_mean']:.2%}** {small}",
                     f"{line['accuracy_min']:.2%}{UNBROKEN}{line['accuracy_max']:.2%}",
                     f"{trained[line['model']]:.1%}"])
    st.markdown("\n".join(f"| {' | '.join(cells)} |" for cells in rows))


def what_to_mind(result: Result) -> list[str]:
    """Sentences on what the numbers do not carry: models not to be told apart, accuracies no better than guessing."""
    mind = []
    ranked = result.models.sort_values("rank", kind="stable")
    for _, group in ranked.groupby("rank_group", sort=True):
        if len(group) > 1:
            best, *others = (shortened(name) for name in group["model"])
            mind.append(f"These {group['n_test'].iloc[0]:,} test sentences do not tell {', '.join(others)} apart from "
                        f"{best}: the 95 % interval of the difference holds 0.")
    idle = ranked[ranked["ci_low"] <= ranked["baseline"]]
    if len(idle):
        mind.append(f"{', '.join(map(shortened, idle['model']))}: not surely better than always saying the largest "
                    f"class, which is right in {idle['baseline'].iloc[0]:.1%}.")
    return mind


def size_line(result: Result) -> str:
    """How many sentences were trained on and asked for, in how many runs, and whether the training went far enough."""
    line = result.models.iloc[0]
    settings = result.settings
    said = (f"{count(line['n_train'], 'sentence')} to train on, {line['n_test']:,} to be asked for, of "
            f"{line['n_classes']} classes; {count(settings.seeds, 'run')} of {count(settings.epochs, 'epoch')}.")
    trained = result.runs.groupby("model")["train_accuracy"].mean()
    few = [shortened(str(model)) for model, share in trained.items() if share < NOT_LEARNT]
    if few and not settings.standardize:
        who = "" if len(few) == len(trained) else f" under {', '.join(few)}"
        said += (f" In so many epochs not all of the training sentences were learnt{who}; standardising the vectors, "
                 "or more epochs, takes it further, which need not help in the test.")
    return said


def comparisons(result: Result) -> None:
    """Every two models: by how much their mean accuracies differ, answer by answer."""
    table = result.comparisons
    columns = {name: st.column_config.NumberColumn(label, format="percent") for name, label in (
        ("difference", "Accuracy less the other's"), ("ci_low", "from"), ("ci_high", "to"))}
    st.dataframe(table, hide_index=True,
                 placeholder="–", alt="Differences of the accuracy between models", column_config={
        "model": "Model", "other": "Other", **columns, "separable": st.column_config.CheckboxColumn(
            "Apart", help="The 95 % interval of the difference leaves 0 out.")})


def class_table(result: Result) -> None:
    """The accuracy of each class under each model: one line for a class, one column for a model."""
    order = result.models.sort_values("rank", kind="stable")["model"].tolist()
    table = result.classes.pivot(index="class", columns="model", values="accuracy")[order]
    sizes = result.classes.drop_duplicates("class").set_index("class")[["n_train", "n_test"]]
    table = sizes.join(table).loc[list(dict.fromkeys(result.classes["class"]))].reset_index()
    st.dataframe(table, hide_index=True, placeholder="–", alt="Accuracy of each class under each model", column_config={
        "class": "Class", "n_train": st.column_config.NumberColumn("Trained on", width="small"),
        "n_test": st.column_config.NumberColumn("Asked for", width="small", help="In one run."),
        **{model: st.column_config.NumberColumn(shortened(model), format="percent") for model in order}})


def missed_sentences(result: Result, run_id: str) -> None:
    """The test sentences that one model never got right, with what it most often called them."""
    models = result.models.sort_values("rank", kind="stable")["model"].tolist()
    model = models[0]
    if len(models) > 1:
        model = st.pills("Model", models, default=models[0], required=True, key=f"classify-missed-{run_id}",
                         format_func=lambda name: verbatim(shortened(name)), label_visibility="collapsed")
    missed = never_right(result.sentences, model)
    n_tested = int((result.sentences["model"] == model).sum())
    st.caption(f"{len(missed):,} of the {n_tested:,} sentences that were ever asked for were never right.")
    st.dataframe(missed, hide_index=True, height=min(320, 38 + 35 * max(1, len(missed))),
                 placeholder="–", alt="Sentences never right",
                 column_order=["row", "text", "class", "predicted", "n_asked"], column_config={
                     "row": st.column_config.NumberColumn("Row", width="small"),
                     "text": st.column_config.TextColumn("Sentence", width="large"), "class": "Class",
                     "predicted": st.column_config.TextColumn("Called", help="Most often, over the runs."),
                     "n_asked": st.column_config.NumberColumn("Times", width="small", help="In how many runs it was "
                                                              "asked for.")})


def never_right(sentences: pd.DataFrame, model: str) -> pd.DataFrame:
    """The rows of `Result.sentences` that a model got right in no run, those asked most often first."""
    own = sentences[(sentences["model"] == model) & (sentences["n_correct"] == 0)]
    return own.sort_values(["n_asked", "row"], ascending=[False, True], kind="stable")
