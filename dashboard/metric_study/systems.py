"""How the settings of a metric study rank the systems of its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.metric_study.labels import interval, number, setting_name
from dashboard.shared.theme import measure_name
from dashboard.shared.wording import measure_help
from engine.evaluations.metric_study.records import HUMAN, Result
from engine.measures.statistics.system_ranking import PERMUTATIONS
from engine.messages.languages import tr, translated

SHARES = ("soft_pairwise_accuracy", "pairwise_accuracy", "tie_calibrated_accuracy")


def systems_view(result: Result) -> None:
    """Draw how each setting ranks the systems, their scores, the tests of every two, and their entities.

    Each where the result has it.
    """
    views = {
        tr("Ranking of systems"): (_ranking, result.system_agreement),
        tr("System scores"): (_scores, result.system_scores),
        tr("Tests of systems"): (_tests, result.system_tests),
        tr("Entities"): (_entities, result.entity_accuracy),
    }
    views = {name: (view, table) for name, (view, table) in views.items() if len(table)}
    for tab, (view, table) in zip(st.tabs(list(views)), views.values(), strict=True):
        with tab:
            view(table)


def _name(line: Mapping[Any, Any]) -> str:
    return tr("Human score") if line["kind"] == HUMAN else setting_name(line)


def _names(table: pd.DataFrame) -> list[str]:
    return [_name(line) for line in table.to_dict("records")]


def _ranking(table: pd.DataFrame) -> None:
    ordered = table.sort_values("soft_pairwise_accuracy", ascending=False, kind="stable")
    errors = {
        "soft_pairwise_accuracy_error": "SPA",  # untranslated
        "perm_both_p_error": tr("p, by pairs"),
        "perm_both_systems_p_error": tr("p, by systems"),
    }
    st.dataframe(
        pd.DataFrame(
            {
                "setting": _names(ordered),
                **{name: ordered[name].to_numpy() for name in (*SHARES, *errors)},
                "tie_threshold": ordered["tie_threshold"].to_numpy(),
                "perm_both_p": ordered["perm_both_p"].to_numpy(),
                "perm_both_systems_p": ordered["perm_both_systems_p"].to_numpy(),
                "reason": [translated(reason) for reason in ordered["reason"]],
            }
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("How each setting ranks the systems"),
        column_order=[
            "setting",
            *SHARES,
            "tie_threshold",
            "perm_both_p",
            "perm_both_systems_p",
            *errors,
            *(["reason"] if ordered["reason"].any() else []),
        ],
        column_config={
            "setting": tr("Setting"),
            "reason": tr("Undefined because"),
            **{
                name: st.column_config.NumberColumn(measure_name(name), format="%.3f", help=measure_help(name))
                for name in SHARES
            },
            **{name: st.column_config.NumberColumn(f"{label} ±", format="%.3f") for name, label in errors.items()},
            "tie_threshold": st.column_config.NumberColumn(tr("ε of ties"), format="%.4g"),
            "perm_both_p": st.column_config.NumberColumn(
                tr("p, by pairs"), format="%.3f", help=measure_help("perm_both")
            ),
            "perm_both_systems_p": st.column_config.NumberColumn(
                tr("p, by systems"), format="%.3f", help=measure_help("perm_both")
            ),
        },
    )
    st.caption(
        tr(
            "p: PERM-BOTH of the best setting against this one, one-sided, on Pearson's r over all pairs and "
            "over the means of the systems; not corrected for the number of settings. ±: standard error from "
            "drawing {n:,} permutations at random. Pairs of one reference are one segment; of each two systems "
            "the segments count that both have, taken to be independent.",
            n=PERMUTATIONS,
        )
    )


def _scores(table: pd.DataFrame) -> None:
    wide, names = scores_by_setting(table)
    st.dataframe(
        wide,
        placeholder="–",
        alt=tr("Scores of the systems"),
        column_config={"system": tr("System"), **names},
    )
    st.caption(tr("Means over the pairs that have a human score; the human score is the mean of the z-scores."))


def scores_by_setting(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """The mean scores of `SYSTEM_SCORES`, a row for each system, the best by the human score first; and column -> name.

    A column for each setting, called by its number: two settings may have one name, as with dictionaries of one file name.
    """
    codes, _ = pd.factorize(pd.MultiIndex.from_frame(table[["kind", "model", "idf", "penalty"]]))
    settings = [f"setting {code}" for code in codes]  # untranslated
    wide = table.assign(setting=settings).pivot_table(index="system", columns="setting", values="score", sort=False)
    human = next((name for name, kind in zip(settings, table["kind"], strict=True) if kind == HUMAN), None)
    if human is not None and human in wide.columns:
        wide = wide.sort_values(human, ascending=False, kind="stable")
    return wide, dict(zip(settings, _names(table), strict=True))


def _entities(table: pd.DataFrame) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                tr("System"): [name or tr("All pairs") for name in table["system"]],
                tr("Pairs with an entity"): table["n"],
                tr("Correct"): table["n_right"],
                measure_name("entity_accuracy"): table["accuracy"].map(number),
                tr("95% interval"): [
                    interval(low, high) for low, high in zip(table["ci_low"], table["ci_high"], strict=True)
                ],
                tr("By the authors' code"): table["accuracy_by_case"].map(number),
            }
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("Entities right or wrong, by system"),
        column_config={
            measure_name("entity_accuracy"): st.column_config.TextColumn(help=measure_help("entity_accuracy")),
            tr("By the authors' code"): st.column_config.TextColumn(
                help=tr("After case folding alone, as the code of XC-Translate's authors counts.")
            ),
        },
    )
    st.caption(
        tr(
            "An entity is right where the candidate has one of its accepted forms, after NFKC and case folding. "
            "Wilson's interval; pairs are taken to be independent."
        )
    )


def _tests(table: pd.DataFrame) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                tr("Score"): _names(table),
                tr("System"): table["system"],
                tr("Other system"): table["other"],
                tr("Segments"): table["n"],
                tr("Difference"): table["difference"].map(number),
                tr("95% interval"): [
                    interval(low, high) for low, high in zip(table["ci_low"], table["ci_high"], strict=True)
                ],
                tr("p, bootstrap"): table["p_value"].map(number),
                tr("p, permutation"): table["permutation_p"].map(number),
            }
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("Tests of every two systems"),
    )
    st.caption(
        tr(
            "Bootstrap over segments: two-sided. Permutation, as in soft pairwise accuracy: one-sided, near 0 "
            "where the first system is better, near 1 where the other is. Neither is corrected for the number "
            "of pairs of systems."
        )
    )
