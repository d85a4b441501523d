"""How sentences are scored: the choices of a minimal-pairs run, each with the rule that it stands for."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.minimal_pairs.prompts.form import prompts_input
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from dashboard.shared.wording import verbatim
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.records import NO_PROMPTS, Settings
from engine.evaluations.minimal_pairs.scoring_rules import SPACE_RULES
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import tr, translated
from engine.options import options_of
from engine.precision import AUTO, EXACT_DECISIONS

OPTIONS = options_of(Settings)


def minimal_settings(models: tuple[str, ...], dataset: MinimalPairs | None, start: Start) -> Settings:
    """Draws the choices, at first those of `start`, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        chosen = _popover(models, dataset, start)
        windows = {"window": tr("Window, tokens"), "stride": tr("Stride, tokens")}
        again = {name: label for name, label in windows.items() if getattr(chosen, name) is not None}
        again |= {"prompts": tr("Prompts")} if chosen.prompts != NO_PROMPTS else {}
        again |= {"all_layers": tr("Reading times at every layer")} if chosen.all_layers else {}
        again |= {"other_prefixes": tr("Scored again after, as conditions")} if chosen.other_prefixes else {}
        settings.in_a_line(
            chosen,
            {
                "pll": tr("Pseudo-log-likelihood"),
                "prefix": tr("Before the first token"),
                **again,
                "precision": tr("Numeric precision"),
            },
            {AUTO: OPTIONS["precision"].labels[AUTO]},
        )
    return chosen


def _popover(models: tuple[str, ...], dataset: MinimalPairs | None, start: Start) -> Settings:
    with st.popover(tr("Advanced options"), icon=":material/tune:", key="minimal-pairs-settings", width="content"):
        in_windows = _windows(start) if dataset is not None and dataset.data_kind.in_windows else {}
        st.markdown(tr("**Masked models**"))
        pll = _choice(start, tr("Pseudo-log-likelihood"), "pll", label_visibility="collapsed")
        st.caption(verbatim(translated(OPTIONS["pll"].choices[pll])))
        words = _choice(start, tr("Words"), "words", disabled=pll == "original")
        if pll != "original":
            st.caption(verbatim(translated(OPTIONS["words"].choices[words])))
        at = _choice(start, tr("Predicted at"), "predicted_at")
        st.caption(verbatim(translated(OPTIONS["predicted_at"].choices[at])))
        has_shared = dataset is not None and "shared_tokens" in dataset.data_kind.further_settings
        shared = settings.toggle(
            tr("CrowS-Pairs' shared-token measure, too"),
            OPTIONS["shared_tokens"],
            **start.at("shared"),
            disabled=not has_shared,
        )
        st.markdown(tr("**Causal models**"))
        prefix = _choice(start, tr("Before the first token"), "prefix")
        st.caption(verbatim(translated(OPTIONS["prefix"].choices[prefix])))
        others = settings.pills(
            tr("Scored again after, as conditions"), OPTIONS["other_prefixes"], **start.at("other-prefixes")
        )
        space = settings.toggle(tr("A space before the sentence"), OPTIONS["leading_space"], **start.at("space"))
        st.caption(verbatim(translated(SPACE_RULES[space])))
        boundaries = settings.toggle(
            tr("Boundaries of words, for WordLP"), OPTIONS["word_boundaries"], **start.at("boundaries")
        )
        has_layers = dataset is not None and "all_layers" in dataset.data_kind.further_settings
        layers = has_layers and settings.toggle(
            tr("Reading times at every layer (logit lens)"), OPTIONS["all_layers"], **start.at("layers")
        )
        prompts = prompts_input(start)
        st.markdown(tr("**Encoder-decoders**"))
        reads = _choice(start, tr("The encoder is given"), "encoder_reads")
        st.caption(verbatim(translated(OPTIONS["encoder_reads"].choices[reads])))
        text = (
            settings.typed(tr("Text for the encoder"), OPTIONS["encoder_text"], **start.at("encoder-text"))
            if reads == "text"
            else ""
        )
        precision = settings.list_of(tr("Numeric precision"), OPTIONS["precision"], **start.at("precision"))
        st.caption(translated(OPTIONS["precision"].choices[precision]))
        exact = _exact_scores(start) if precision == EXACT_DECISIONS else {}
        seed = settings.number(tr("Seed"), OPTIONS["seed"], **start.at("seed"), width=140)
    return Settings(
        models,
        pll=pll,
        words=words,
        predicted_at=at,
        precision=precision,
        prefix=prefix,
        other_prefixes=others,
        leading_space=space,
        word_boundaries=boundaries,
        all_layers=layers,
        encoder_reads=reads,
        encoder_text=text or "",
        shared_tokens=shared and has_shared,
        seed=seed,
        **exact,
        **in_windows,
        **prompts,
    )


def _windows(start: Start) -> dict[str, Any]:
    """How running text is read that is longer than a window."""
    st.markdown(tr("**Running text**"))
    with st.container(horizontal=True, gap="medium"):
        window = settings.number(tr("Window, tokens"), OPTIONS["window"], **start.at("window"), width=380)
        stride = settings.number(tr("Stride, tokens"), OPTIONS["stride"], **start.at("stride"), width=230)
    st.caption(verbatim(translated(OPTIONS["stride"].help)))
    where = _choice(start, tr("The prefix stands before"), "window_prefix")
    st.caption(verbatim(translated(OPTIONS["window_prefix"].choices[where])))
    return {"window": window, "stride": stride, "window_prefix": where}


def _exact_scores(start: Start) -> dict[str, Any]:
    """The scores whose decisions are exact, and alpha where PenLP is one of them."""
    scores = settings.pills(tr("Exact under"), OPTIONS["exact_scores"], **start.at("exact-scores"))
    if not any(NORMALIZATIONS[score].has_alpha for score in scores):
        return {"exact_scores": scores}
    return {
        "exact_scores": scores,
        "exact_alpha": settings.slider(
            tr("Exact at alpha"), OPTIONS["exact_alpha"], step=0.05, **start.at("exact-alpha")
        ),
    }


def _choice(start: Start, label: str, name: str, **look: Any) -> str:
    return str(settings.segments(label, OPTIONS[name], **start.at(name), **look))
