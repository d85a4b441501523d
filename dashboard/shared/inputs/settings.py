"""Widgets of settings: default, bounds, choices and help are the declaration's, label, key and place the page's.

Each takes the declaration (`engine.options.option_of`) and returns what the setting is set to. Labels and the texts of
what a page offers are the page's, translated there; all that is the declaration's is translated here. `first` is a
record that holds the setting: what the widget is set to at first, in place of the declared default (a preset, or the
run shown).
What else a page says goes to Streamlit's widget as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.messages.languages import tr, translated
from engine.messages.message import list_of as names_listed
from engine.options import Option, options_of

BETWEEN_TEXTS = "---"
# A line of a text that is the same, as few-shot prompts have it, stands in the field with a backslash before it.
LINE_BETWEEN, OWN_LINE = re.compile(r"^\\*---[^\S\n]*$", re.MULTILINE), re.compile(r"^\\(\\*---\s*)$")
MOST_SEGMENTS = 5  # of a choice in a row; more of them are a list


def number(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> Any:
    """A field for a number, or for none where `option.unset` says what that means."""
    least, most = _ends(option)
    return st.number_input(
        label,
        least,
        most,
        at_first(option, first),
        key=key,
        placeholder=_unset(option),
        **_look(option, {"step": 1 if option.kind is int else None} | look),
    )


def slider(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> Any:
    """A slider between the bounds of a number; it reaches as far as a value that was set beyond its end."""
    least, most = _ends(option)
    value = at_first(option, first)
    return st.slider(label, least, max(most, value), value, key=key, **_look(option, look))


def percent(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> float:
    """A slider in per cent for a share between 0 and 1."""
    least, most = _ends(option)
    value = round(100 * at_first(option, first))
    return (
        float(
            st.slider(
                label, round(100 * least), round(100 * most), value, format="%d%%", key=key, **_look(option, look)
            )
        )
        / 100
    )


def repeated(
    label: str, label_of_count: str, option: Option, *, keys: tuple[str, str], first: Any = None, **look: Any
) -> tuple[Any, ...]:
    """One number so many times: a field for the number and one for how many, both with the help of the setting."""
    least, most = _ends(option)
    values = at_first(option, first)
    value = st.number_input(label, least, most, values[0], step=1, key=keys[0], **_look(option, look))
    times = st.number_input(
        label_of_count, option.least_items, option.shown_items, len(values), step=1, key=keys[1], **_look(option, look)
    )
    return (value,) * int(times)


def toggle(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> bool:
    """A switch."""
    return bool(st.toggle(label, at_first(option, first), key=key, **_look(option, look)))


def segments(
    label: str,
    option: Option,
    *,
    key: str,
    first: Any = None,
    words: Mapping[Any, str] | None = None,
    but: Collection[Any] = (),
    **look: Any,
) -> Any:
    """One of the choices, side by side, save those in `but`.

    words: what a reader sees of a choice, where that is another word than the label; translated here.
    """
    choices = [choice for choice in option.choices if choice not in but]
    return st.segmented_control(
        label,
        choices,
        default=at_first(option, first),
        required=True,
        format_func=_wording(option, words),
        key=key,
        **_look(option, look, _wording(option, words)),
    )


def pills(
    label: str, option: Option, *, key: str, first: Any = None, words: Mapping[Any, str] | None = None, **look: Any
) -> tuple[Any, ...]:
    """Any of the choices, in their order."""
    chosen = st.pills(
        label,
        list(option.choices),
        selection_mode="multi",
        default=at_first(option, first),
        format_func=_wording(option, words),
        key=key,
        **_look(option, look, _wording(option, words)),
    )
    return tuple(choice for choice in option.choices if choice in chosen)


def one_of(label: str, option: Option, offered: Mapping[Any, str], *, key: str, first: Any = None, **look: Any) -> Any:
    """One of what a page offers for a setting that may be anything, such as a dictionary: value -> what a reader sees."""
    value, words = at_first(option, first), {choice: verbatim(name) for choice, name in offered.items()}
    if len(offered) > MOST_SEGMENTS:
        return list_of(label, option, words, key=key, first=first, **look)
    return st.segmented_control(
        label,
        list(offered),
        default=value,
        required=True,
        wrap=True,
        key=key,
        format_func=words.__getitem__,
        **_look(option, {**look, "width": "content"}),
    )


def list_of(
    label: str, option: Option, offered: Mapping[Any, str] | None = None, *, key: str, first: Any = None, **look: Any
) -> Any:
    """One of what a page offers, in a list: value -> what a reader sees; by default all choices."""
    offered = labels_of(option) if offered is None else offered
    return st.selectbox(
        label,
        list(offered),
        index=list(offered).index(at_first(option, first)),
        format_func=offered.__getitem__,
        key=key,
        **_look(option, look),
    )


def several_of(
    label: str,
    option: Option,
    offered: Collection[Any],
    *,
    key: str,
    first: Any = None,
    usual: Sequence[str] | None = None,
    **look: Any,
) -> tuple[str, ...]:
    """Several of what a page offers, or what is typed; each once.

    usual: what it begins with in place of the declared default; untouched it follows.
    """
    values = at_first(option, first) if first is not None or usual is None else usual
    chosen = st.multiselect(
        label,
        list(dict.fromkeys([*offered, *values])),
        default=follow(key, values),
        accept_new_options=True,
        filter_mode="contains",
        select_all=False,
        key=key,
        placeholder=tr("Choose, or type and press Enter"),
        **_look(option, look),
    )
    return tuple(dict.fromkeys(item.strip() for item in chosen if item.strip()))


def follow(key: str, usual: Sequence[str]) -> list[str] | None:
    """The default of a choice of several whose usual values follow other choices of the page.

    Where the choice is still what was usual before, it becomes what is usual now; nobody touched it.
    """
    before = st.session_state.get(f"{key}-usual", usual)
    st.session_state[f"{key}-usual"] = usual
    if list(before) == list(usual) or list(st.session_state.get(key, ())) != list(before):
        return list(usual)
    st.session_state[key] = list(usual)
    return None  # a value that is set has no default beside it


def typed(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> str | None:
    """A field for a text; empty it stands for none, which `option.unset` explains. White space is the user's own."""
    return (
        st.text_input(label, at_first(option, first) or "", key=key, placeholder=_unset(option), **_look(option, look))
        or None
    )


def typed_lines(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> str:
    """A field for a text of several lines, which ends with a line; what separates entries in one line begins a new one."""
    lines = str(at_first(option, first)).replace(";", "\n")
    return str(st.text_area(label, lines, key=key, placeholder="斉藤=さいとう", height=90, **_look(option, look)))


def typed_texts(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> tuple[str, ...]:
    """A field for several texts, each of any number of lines, with a line of three hyphens between two of them.

    White space is the user's own; a text of nothing else, as before a first such line or after a last one, is none.
    """
    texts = joined_texts(at_first(option, first))
    return separate_texts(str(st.text_area(label, texts, key=key, height=90, **_look(option, look))))


def separate_texts(typed: str) -> tuple[str, ...]:
    """The texts in what was typed into the field of `typed_texts`."""
    texts_of_lines: list[list[str]] = [[]]
    for line in typed.split("\n"):
        if line.rstrip() == BETWEEN_TEXTS:
            texts_of_lines.append([])
        else:
            texts_of_lines[-1].append(OWN_LINE.sub(r"\1", line))
    return tuple(text for text in map("\n".join, texts_of_lines) if text.strip())


def joined_texts(texts: Sequence[str]) -> str:
    """What the field of `typed_texts` holds for these texts."""
    return f"\n{BETWEEN_TEXTS}\n".join(LINE_BETWEEN.sub(r"\\\g<0>", text) for text in texts)


def typed_words(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> tuple[str, ...]:
    """What is typed into a field, separated by commas of either width; each once."""
    words = ",".join(at_first(option, first))
    typed = st.text_input(label, words, key=key, **_look(option, {"placeholder": _unset(option)} | look))
    items = typed.replace("、", ",").replace("，", ",").split(",")
    return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))


def at_first(option: Option, first: Any = None) -> Any:
    """What a widget is set to before the user touches it."""
    return option.default if first is None else getattr(first, option.name)


def in_a_line(record: Any, labels: Mapping[str, str], words: Mapping[Any, str] | None = None) -> None:
    """Draw what some settings of a record are, beside the advanced options that hold them: name -> its label.

    words: what a reader sees of a value, where it is another word than its label; translated here.
    """
    options = options_of(type(record))
    st.caption(
        verbatim(
            " · ".join(
                tr("{label}: {value}", label=label, value=_in_words(options[name], getattr(record, name), words or {}))
                for name, label in labels.items()
            )
        ),
        width="stretch",
    )


def label_of(option: Option, choice: Any) -> str:
    """What a reader sees of a choice."""
    return tr(option.labels.get(choice, str(choice)))


def labels_of(option: Option, offered: Iterable[Any] | None = None) -> dict[Any, str]:
    """What a reader sees of each choice, or of some."""
    return {choice: label_of(option, choice) for choice in (option.choices if offered is None else offered)}


def help_text(option: Option, shown: Callable[[Any], str] | None = None) -> str:
    """The tooltip: the help of the setting, and a line for each choice that has a meaning; Markdown.

    shown: what a reader sees of a choice on the widget, by default its label.
    """
    return "\n\n".join(
        [
            verbatim(translated(option.help)),
            *(
                f"**{verbatim(shown(choice) if shown else label_of(option, choice))}**: {verbatim(translated(meaning))}"
                for choice, meaning in option.meanings.items()
            ),
        ]
    )


def _ends(option: Option) -> tuple[Any, Any]:
    """Where a widget begins and ends, in the kind of number that the setting is; None where nothing ends it."""
    ends = option.least, option.most if option.shown_most is None else option.shown_most
    return tuple(None if end is None else option.kind(end) for end in ends)  # type: ignore[return-value]


def _look(option: Option, look: Mapping[str, Any], shown: Callable[[Any], str] | None = None) -> dict[str, Any]:
    return {"help": help_text(option, shown), "persist_state": "session", **look}


def _wording(option: Option, words: Mapping[Any, str] | None) -> Any:
    return lambda choice: tr(words[choice]) if words and choice in words else label_of(option, choice)


def _in_words(option: Option, value: Any, words: Mapping[Any, str]) -> str:
    if value is None or value == ():
        return translated(option.unset) or tr("none")
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(value, tuple):
        return translated(names_listed(tr(words[item]) if item in words else label_of(option, item) for item in value))
    if isinstance(value, int):
        return f"{value:,}"
    return tr(words[value]) if value in words else label_of(option, value)


def _unset(option: Option) -> str | None:
    return translated(option.unset) or None
