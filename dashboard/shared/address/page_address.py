"""One state, one address: what a page shows of a run is in its URL, and the address opens the page so.

    view = PageAddress("alignment", run_id, anchor="idf")
    first = view.first_record(result.settings.scoring, …)      # what the widgets are set to at first
    scoring = …                                                # widgets, whose keys end in `view.place`
    view.keep_record(scoring, result.settings.scoring)         # into the address: what differs from the run
    view.write()

The address holds what differs from the settings of the run, so a link stays short. It counts when the page is opened,
and again when it has been changed otherwise than by the page: by hand, or by the browser's back and forward. Then the
widgets get new keys, because a widget that is on the page keeps its value whatever it is set to at first.

Every address that is written is a step of the browser's back button. So it is written only when a choice has changed:
never when the page is opened, even where its address names the run's own values or some that are ignored. The link to
copy is complete and without them at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from dashboard.shared.address.texts import from_texts, name_of, shown, to_texts
from dashboard.shared.wording import verbatim
from dashboard.streamlit_internals import Container
from engine.errors import InputError
from engine.messages.languages import tr, translated
from engine.options import Option, options_of

SAMPLE = "sample-on-show"  # in the session: the run of a page's sample, while it is shown without being in the address
Record = TypeVar("Record")
Texts = dict[str, list[str]]


@dataclass
class _Kept:
    """What a session keeps of the run shown: the times it was opened, and the address then.

    names: of the choices in the last drawing. chosen: their values in it. left: the part of the address that says them,
    as the last drawing left it; at the opening it may say more than `chosen`. widgets: the values of the page's widgets
    in the last drawing. ignored: of what it is said at present that it is not used, and why; told: of what it was said
    since the opening.
    """

    opened: int = 0
    first: Texts = field(default_factory=dict)
    chosen: Texts = field(default_factory=dict)
    left: Texts = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    widgets: dict[str, str] = field(default_factory=dict)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    told: set[tuple[str, str]] = field(default_factory=set)


class PageAddress:
    """The choices of what a page shows of one run; made once in each drawing of the page."""

    def __init__(self, page: str, run_id: str, *, anchor: str = "") -> None:
        """`anchor`: the name of a widget that is always drawn, by which it is seen whether the page was left; by
        default any of the page's widgets of the run, for pages that keep nothing else under such keys.
        """
        self._page, self._run_id = page, run_id
        self._kept: _Kept = st.session_state.setdefault(f"address-{page}-{run_id}", _Kept())
        self._chosen: Texts = {}
        self._names: set[str] = set()
        self._is_drawn = False
        self._notices: Container | None = None
        address = _address()
        self.opened = self._is_opened(address, anchor)
        if self.opened:
            self._kept.opened += 1
            self._kept.first, self._kept.ignored, self._kept.told = address, [], set()
            # Also where an error ends this drawing before `write`, the next one is not another opening.
            self._kept.left = {name: texts for name, texts in address.items() if name in self._kept.names}
        elif self._has_changed_widgets():
            self._kept.ignored = []

    def key(self, name: str) -> str:
        """The key of a widget of the page."""
        return f"{self._page}-{name}-{self.place}"

    @property
    def place(self) -> str:
        """The end of the keys of the page's widgets: the run, and how often it was opened where that is not once."""
        return self._run_id if self._kept.opened == 1 else f"{self._run_id}-{self._kept.opened}"

    def first(self, declared: Option, base: Any, *, offered: Collection[Any] | None = None) -> Any:
        """What a choice is set to at first: the address's value where it has one that can be, else `base`."""
        name = name_of(declared)
        self._names.add(name)
        texts = self._kept.first.get(name)
        if texts is None:
            return base
        try:
            return from_texts(declared, texts, offered)
        except InputError as error:
            self.ignore(name, error.message)
            return base

    def first_record(
        self,
        base: Record,
        *,
        offered: Mapping[str, Collection[Any]] | None = None,
        declared: Mapping[str, Option] | None = None,
    ) -> Record:
        """A record of settings at first: `base`, with the address's values; `declared`: other declarations of some."""
        options = {**options_of(type(base)), **(declared or {})}
        return replace(
            base,
            **{  # type: ignore[type-var]
                name: self.first(option, getattr(base, name), offered=(offered or {}).get(name))
                for name, option in options.items()
            },
        )

    def ignore(self, name: str, why: str) -> None:
        """Have it said that the address's value of a choice is not used; `why` goes on after "…, which".

        Nothing is shown where the address has no value of it.
        """
        if name not in self._kept.first:
            return
        if (name, why) not in self._kept.told:
            self._kept.told.add((name, why))
            self._kept.ignored.append((name, why))
            self._say(name, why)

    def keep(self, declared: Option, value: Any, base: Any) -> None:
        """Write a choice to the URL where it is another than `base`."""
        name = name_of(declared)
        self._names.add(name)
        self._chosen.pop(name, None)
        if value != base:
            self._chosen[name] = to_texts(value)

    def keep_record(self, chosen: Any, base: Any) -> None:
        """`keep` for every setting of a record."""
        for name, declared in options_of(type(base)).items():
            self.keep(declared, getattr(chosen, name), getattr(base, name))

    def kept(self, declared: Option, base: Any) -> Any:
        """A single choice as it was kept in this drawing, `base` where it is not in the URL."""
        texts = self._chosen.get(name_of(declared))
        return base if texts is None else from_texts(declared, texts)

    def own(self, declared: Iterable[Option]) -> None:
        """Have choices go from the address unless they are kept after this, also those that are not drawn now."""
        for option in declared:
            self._names.add(name_of(option))
            self._chosen.pop(name_of(option), None)

    def write(self) -> None:
        """Write the choices kept so far into the address, where one of them has changed; other names in it stay.

        Called once in each drawing, after the last choice; before that the address is left as it is.
        """
        address = _address()
        wanted = self._others(address) | self._chosen
        is_as_left = self._own(address) == self._kept.left and self._chosen == self._kept.chosen
        if not self.opened and not is_as_left and wanted != address:
            st.query_params.from_dict(wanted)
            address = wanted
        self._kept.names = set(self._names)
        self._kept.chosen, self._kept.left = dict(self._chosen), self._own(address)
        self._kept.widgets = self._widgets()
        self._is_drawn = True

    def write_in_fragment(self) -> None:
        """`write` at the end of a fragment, once that alone is drawn again; with the page it is the page that writes."""
        if self._is_drawn:
            self.opened = False
            self.write()

    def notices(self) -> None:
        """Draw what of the address is ignored, also by choices that come later, until another choice is made."""
        self._notices = st.container(gap="xsmall")
        for name, why in self._kept.ignored:
            self._say(name, why)

    @st.fragment
    def copy_link(self) -> None:
        """Draw a popover with the link to what is shown, beside which stands a button that copies it.

        It is drawn again when it is opened: a fragment of the page may have changed a choice since.
        """
        with st.popover(
            tr("Copy link"), icon=":material/link:", type="tertiary", on_change="rerun", key=self._link_key
        ):
            st.code(self.link(), language=None, wrap_lines=True)

    def link(self) -> str:
        """The address of what is shown, with the choices kept so far and without what is ignored."""
        return f"{st.context.url or ''}?{urlencode(self._others(_address()) | self._chosen, doseq=True)}"

    @property
    def _link_key(self) -> str:
        """Of no choice: it does not begin as the keys of those do."""
        return f"link-{self._page}-{self.place}"

    def _say(self, name: str, why: str) -> None:
        # A fragment that is drawn alone cannot draw outside of itself; the next drawing of the page says it.
        if self._notices is not None and not self._is_drawn:
            notice = tr(
                "The link asks for {name} {value}, which {why}: ignored.",
                name=name,
                value=shown(self._kept.first[name]),
                why=translated(why).rstrip(".。"),  # an error of the engine is a sentence
            )
            self._notices.caption(f":orange[:material/link_off:] {verbatim(notice)}")  # untranslated

    def _is_opened(self, address: Texts, anchor: str) -> bool:
        """Whether the address counts: at the first visit, after the page was left, and when it is another one.

        A click can reach the server with the address as it was before the last drawing wrote it. Then a widget has
        changed, and its value is the newer.
        """
        if not self._kept.opened or not self._is_on_show(anchor):
            return True
        own = {name: texts for name, texts in address.items() if name in self._kept.names}
        return own != self._kept.left and not self._has_changed_widgets()

    def _is_on_show(self, anchor: str) -> bool:
        """Whether the page was not left: Streamlit forgets the widgets of a page that is.

        A click in the midst of a first drawing finds only the widgets drawn until then.
        """
        if anchor:
            return self.key(anchor) in st.session_state
        return self._link_key in st.session_state or bool(self._widgets())

    def _own(self, address: Texts) -> Texts:
        return {name: texts for name, texts in address.items() if name in self._names}

    def _others(self, address: Texts) -> Texts:
        """The rest of the address, with the run shown where that is a sample's, so that a link is complete."""
        run = {"run": [self._run_id]} if self._run_id and st.session_state.get(SAMPLE) == self._run_id else {}
        return run | {name: texts for name, texts in address.items() if name not in self._names}

    def _has_changed_widgets(self) -> bool:
        """Whether a widget has another value than when the address was written; those drawn only then or now aside."""
        then, now = self._kept.widgets, self._widgets()
        return any(now[key] != then[key] for key in now.keys() & then.keys())

    def _widgets(self) -> dict[str, str]:
        return {
            str(key): repr(value)
            for key, value in st.session_state.items()
            if str(key).startswith(f"{self._page}-") and self._run_id in str(key)
        }


def _address() -> Texts:
    return {name: st.query_params.get_all(name) for name in st.query_params}
