"""What the data of a form are, in the address before anything is run: a reload, or a link, opens the form so.

    asked_language(kind)               # of the sample that the address names: where it is to be chosen
    opened(kind, sources, …)           # before the widgets: what the address says becomes their first values
    … widgets under the keys below …
    written(kind, …)                   # after them: into the address, where a choice has changed

`data` is a source of the form (upload, paste, kept), hub:ORG/NAME of the Hugging Face Hub, sample:NAME:LANGUAGE, another
sample than the page's own, or sample:LANGUAGE, that in a language which was chosen; `header` is what the first row of a
file is. The page's own sample in the reader's language, and a first row that the file tells, are not written. A sample
without a language, as links had it before, is in the reader's. A run in the address has its own data: beside it neither
is read or written. A file that was uploaded is not in an address: its header is that of the next one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import streamlit as st

from dashboard.shared.address.texts import shown
from dashboard.shared.wording import verbatim
from engine.datasets.formats import headerless
from engine.datasets.sample_data import LANGUAGES
from engine.messages.languages import tr
from engine.messages.message import Message

DATA, HEADER = "data", "header"
SAMPLE, HUB, UPLOAD = "sample", "hub", "upload"
HEADERS = (headerless.NAMES, headerless.DATA)
NOT_OFFERED = Message("is not offered here")


@dataclass
class _Kept:
    """What a session keeps of a form: the address's part and the choices as the last drawing left them."""

    is_drawn: bool = False
    left: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)


def source_key(kind: str) -> str:
    """The key of the choice of a source."""
    return f"{kind}-source"


def hub_key(kind: str) -> str:
    """The key of the name of a data set of the Hub."""
    return f"{kind}-hub"


def sample_key(kind: str) -> str:
    """The key of the choice among several samples."""
    return f"{kind}-sample"


def asked_language(kind: str) -> str:
    """The language of the sample that the address names, where it was opened, or changed otherwise than by the page."""
    kept, own = _kept(kind), _own()
    source, _, name = own.get(DATA, "").partition(":")
    return _parts_of_sample(name)[1] if source == SAMPLE and own != kept.left else ""


def opened(kind: str, sources: Collection[str], samples: Collection[str], language: str, *, is_chosen: bool) -> None:
    """Set the widgets of a form to what the address says, where it was opened, or changed otherwise than by the page.

    sources: those that the form offers; another one is ignored, which is said. samples: the further ones. language,
    is_chosen: as `written` takes them.
    """
    kept = _kept(kind)
    own = _own()
    is_widget_newer = kept.is_drawn and _chosen(kind, language, is_chosen=is_chosen) != kept.chosen
    st.session_state.pop(_present_key(kind), None)  # a file that is still there says it again
    if not own or own == kept.left or is_widget_newer:
        return
    source, _, name = own.get(DATA, SAMPLE).partition(":")
    if source == SAMPLE:
        name = _parts_of_sample(name)[0]
    if source not in sources or (name and source != HUB and not (source == SAMPLE and name in samples)):
        _ignored(DATA, own[DATA])
    else:
        st.session_state[source_key(kind)] = source
        if samples and source == SAMPLE:
            st.session_state[sample_key(kind)] = name
        if source == HUB:
            st.session_state[hub_key(kind)] = own[DATA] if name else None
    if HEADER in own and own[HEADER] not in HEADERS:
        _ignored(HEADER, own[HEADER])
    elif HEADER in own:
        st.session_state[_header_key(kind)] = own[HEADER]


def header_of(kind: str, key: str) -> str:
    """What the first row of a file was said to be; key: of the widget that says it.

    A file whose widget was not drawn yet, the first after the form was opened, has what the address says.
    """
    asked = st.session_state.pop(_header_key(kind), None)
    if asked is not None and key not in st.session_state:
        st.session_state[key] = asked
    chosen = str(st.session_state.get(key, headerless.DETECT))
    st.session_state[_present_key(kind)] = chosen
    return chosen


def written(kind: str, language: str, *, is_chosen: bool) -> None:
    """Write the choices of a form into the address, where one of them has changed; other names in it stay.

    language: of the sample on show. is_chosen: whether somebody chose it.
    """
    kept = _kept(kind)
    chosen = _chosen(kind, language, is_chosen=is_chosen)
    if kept.is_drawn and chosen != kept.chosen and "run" not in st.query_params and chosen != _own():
        others = {name: st.query_params.get_all(name) for name in st.query_params if name not in (DATA, HEADER)}
        st.query_params.from_dict({**others, **chosen})
    kept.is_drawn, kept.chosen, kept.left = True, chosen, _own()


def _kept(kind: str) -> _Kept:
    kept: _Kept = st.session_state.setdefault(f"form-address-{kind}", _Kept())
    return kept


def _own() -> dict[str, str]:
    """The address's part; nothing beside a run."""
    if "run" in st.query_params:
        return {}
    return {name: st.query_params[name] for name in (DATA, HEADER) if name in st.query_params}


def _parts_of_sample(name: str) -> tuple[str, str]:
    """The name of a further sample, "" for the page's own, and its language, "" where none is said."""
    sample, _, language = f":{name}".rpartition(":")
    return (sample.removeprefix(":"), language) if language in LANGUAGES else (name, "")


def _chosen(kind: str, language: str, *, is_chosen: bool) -> dict[str, str]:
    source = str(st.session_state.get(source_key(kind), SAMPLE))
    if source == SAMPLE:
        sample = str(st.session_state.get(sample_key(kind)) or "")
        return {DATA: ":".join(filter(None, (SAMPLE, sample, language)))} if sample or is_chosen else {}
    name = str(st.session_state.get(hub_key(kind)) or "") if source == HUB else ""
    chosen = {DATA: name if name.startswith(f"{HUB}:") else source}
    header = st.session_state.get(_header_key(kind)) or st.session_state.get(_present_key(kind))
    if source == UPLOAD and header in HEADERS:
        chosen[HEADER] = str(header)
    return chosen


def _header_key(kind: str) -> str:
    """Of what the address says of a file that is still to come."""
    return f"form-address-{kind}-header"


def _present_key(kind: str) -> str:
    """Of what was said of the file that is there."""
    return f"form-address-{kind}-header-chosen"


def _ignored(name: str, value: str) -> None:
    notice = tr(
        "The link asks for {name} {value}, which {why}: ignored.",
        name=name,
        value=shown([value]),
        why=tr(NOT_OFFERED),
    )
    st.caption(f":orange[:material/link_off:] {verbatim(notice)}")  # untranslated
