"""Presets at the head of a form: settings by name, built-in and one's own, from which the form begins anew.

    start = presets.start(KIND)
    head = presets.head()
    … widgets with **start.at("layer") …
    presets.choice(head, KIND, chosen_settings)

No URL names a preset: a run, and a link to it, has the settings themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dashboard.shared import session
from dashboard.shared.wording import show_error, verbatim
from dashboard.streamlit_internals import Container
from engine.errors import EngineError
from engine.evaluations.presets import PRESETS
from engine.messages.languages import mark, tr, translated
from engine.runs.access.presets import MOST_CHARACTERS, KeptPreset, PresetAccess

OWN = mark("own settings")


@dataclass(frozen=True)
class Start:
    """What the widgets of a form begin with: the settings of a preset, None for the declared defaults.

    number: how often a preset was chosen; a widget on the page keeps its value, so each time it gets another key.
    """

    kind: str
    number: int = 0
    settings: Any = None

    def key(self, name: str) -> str:
        """The key of a widget of the form."""
        return f"{self.kind}-{name}" + (f"-{self.number}" if self.number else "")

    def at(self, name: str, inner: str = "") -> dict[str, Any]:
        """Key and first value of the widget of a setting; `inner`: the record in the settings that holds it."""
        first = getattr(self.settings, inner) if inner and self.settings is not None else self.settings
        return {"key": self.key(name), "first": first}


def start(kind: str) -> Start:
    """What the form of a kind begins with."""
    return Start(kind, *st.session_state.get(_state(kind), ()))


def head() -> Container:
    """A place for `choice` above the widgets of a form, which is filled after them."""
    return st.container(width="content")


def choice(
    place: Container,
    kind: str,
    present: Any,
    begin: Callable[[Any], None] | None = None,
    *,
    key: str = "",
    part: Callable[[Any], Any] = lambda settings: settings,
) -> None:
    """Draw which preset the present settings are, the others to choose, and what keeps one's own.

    begin: called with the settings of the one that is chosen; by default the form of the kind begins with them.
    key: the end of the widgets' keys, where a page has two of them. part: of the settings, what is compared.
    """
    begin = begin or partial(_begin, kind)
    key = f"{kind}{key}"
    own = _own(kind)
    titles = {tr(known.title): known.settings for known in PRESETS.get(kind, ())}
    titles |= {verbatim(known.name): known.settings for known in own if known.settings is not None}
    in_force = next(
        (
            title
            for title, settings in titles.items()
            if part(_without_models(settings)) == part(_without_models(present))
        ),
        None,
    )
    with (
        place,
        st.popover(
            tr("Preset: {name}", name=in_force or tr(OWN)),
            key=f"presets-{key}",
            type="tertiary",
            icon=":material/bookmark:",
        ),
    ):
        for known in PRESETS.get(kind, ()):
            title = tr(known.title)
            _button(title, title == in_force, f"presets-{key}-begin-{known.name}", partial(begin, known.settings))
        for kept in own:
            _own_row(kind, key, kept, verbatim(kept.name) == in_force, begin)
        _keep(kind, key, present)


def _button(title: str, is_in_force: bool, key: str, on_click: Callable[[], None], **look: Any) -> None:
    icon = ":material/check:" if is_in_force else ":material/bookmark:"
    st.button(title, key=key, type="tertiary", icon=icon, on_click=on_click, **look)


def _own_row(kind: str, key: str, known: KeptPreset, is_in_force: bool, begin: Callable[[Any], None]) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        _button(
            verbatim(known.name),
            is_in_force,
            f"presets-{key}-own-{known.name}",
            partial(begin, known.settings),
            disabled=known.settings is None,
            help=verbatim(translated(known.problem)) or None,
        )
        st.button(
            tr("Delete the preset {name}", name=verbatim(known.name)),
            key=f"presets-{key}-delete-{known.name}",
            type="tertiary",
            icon=":material/delete:",
            on_click=partial(_access().delete, kind, known.name),
        )


def _keep(kind: str, key: str, present: Any) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.text_input(
            tr("Save these settings as"), key=f"presets-{key}-name", max_chars=MOST_CHARACTERS, width=220
        )
        pressed = st.button(tr("Save"), key=f"presets-{key}-keep")
    if pressed:
        try:
            _access().keep(kind, name, present)
        except EngineError as error:
            show_error(error)
            return
        st.rerun()


def _own(kind: str) -> list[KeptPreset]:
    try:
        return _access().mine(kind)
    except EngineError as error:
        show_error(error)
        return []


def _access() -> PresetAccess:
    return PresetAccess(session.access())


def _begin(kind: str, settings: Any) -> None:
    st.session_state[_state(kind)] = (start(kind).number + 1, settings)


def _state(kind: str) -> str:
    return f"preset-of-{kind}"


def _without_models(settings: Any) -> Any:
    return replace(settings, models=())
