"""The methods paragraph of a run: what was evaluated and how, in whole sentences with citations, from its signature.

A statement is a sentence's name with its parts; the sentences stand in `english` and `japanese`, and every one of them
in both. Everything said is in the signature. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.shared.exports.bundle import english, japanese
from dashboard.shared.exports.bundle.parts import (
    Choice,
    Cited,
    Data,
    Models,
    Named,
    Names,
    Paragraph,
    Phrase,
    Statement,
)
from dashboard.shared.exports.bundle.references import WORKS, Work, bibtex, model_work
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.tables import latex
from dashboard.shared.exports.tables import markdown as markdown_text
from dashboard.shared.headlines import shown_dataset
from engine.evaluations.shared.left_out import SIGNED as UNUSABLE
from engine.messages.languages import in_language, tr
from engine.models.sources.names import shown_name

LANGUAGES = {"en": english, "ja": japanese}
# The first line in LaTeX.
PACKAGES = "% references.bib needs \\usepackage{url} or \\usepackage{hyperref}, for \\url.\n"
# Round the keys of a citation, until the text is written in a format: characters of the private use area.
_BEGIN, _END = "\ue010", "\ue011"
_CITED = re.compile(f"{_BEGIN}([^{_END}]*){_END}")


@dataclass(frozen=True)
class Methods:
    """What the paragraph says, and the works that it cites by key."""

    statements: tuple[Statement, ...]
    works: Mapping[str, Work]

    def text(self, language: str) -> str:
        """The paragraph as plain text, citations between marks."""
        words = LANGUAGES[language]
        separator: str = words.SEPARATOR
        return separator.join(
            words.SENTENCES[statement.name].format(
                **{name: _worded(part, words) for name, part in statement.parts.items()}
            )
            for statement in self.statements
        )

    def markdown(self, language: str) -> str:
        """The paragraph in Markdown with citations as Pandoc reads them."""
        return (
            _written(
                self.text(language), markdown_text.escape, lambda keys: f"[{'; '.join(f'@{key}' for key in keys)}]"
            )
            + "\n"
        )

    def latex(self, language: str) -> str:
        r"""The paragraph in LaTeX with \cite."""
        written = _written(self.text(language), latex.escape_text, lambda keys: rf"\cite{{{','.join(keys)}}}")
        return f"{PACKAGES}{written}\n"

    def bibtex(self) -> str:
        """The works that are cited."""
        cited = [key for match in _CITED.finditer(self.text("en")) for key in match[1].split(",")]
        return bibtex(self.works, cited)


def methods(
    paragraph: Paragraph,
    signature: Mapping[str, Any],
    dataset_name: str,
    n_items: int,
    n_excluded: int = 0,
    *,
    items: str = "",
    several_references: bool = False,
) -> Methods:
    """The paragraph of a run, from the signature of what is shown. n_excluded: items left out by models.

    items: what they are called, where that depends on the data. several_references: whether a pair of the data has more than one.

    A setting that the signature of an earlier version lacks is not spoken of.
    """
    entries = {
        f"model-{number}": work
        for number, model in enumerate(signature.get("models", ()), start=1)
        if (work := model_work(model["name"], model.get("revision"))) is not None
    }
    models = Names(
        tuple(
            Named(
                str(model.get("model") or model["name"]),
                str(model.get("revision") or ""),
                key if (key := f"model-{number}") in entries else "",
                str(model.get("label") or ""),
            )
            for number, model in enumerate(signature.get("models", ()), start=1)
        )
    )
    versions = signature.get("versions", {})
    dtypes = Names(
        tuple(
            dict.fromkeys(
                model["dtype"]
                for model in signature.get("models", ())
                if model.get("dtype") and not {"endpoint", "scores", "vectors"} & set(model)
            )
        )
    )
    served = [model for model in signature.get("models", ()) if model.get("endpoint")]
    from_files = [model for model in signature.get("models", ()) if {"scores", "vectors"} & set(model)]
    items = items or paragraph.items
    statements = [
        Statement(
            "data", {"models": models, "n": n_items, "items": Choice("items", items), "dataset": Data(dataset_name)}
        ),
        *paragraph.statements({**signature, "items": items}),
        *([Statement("best reference")] if several_references else []),
        *([Statement("unusable", {"n": signature[UNUSABLE]})] if signature.get(UNUSABLE) else []),
        *([Statement("excluded", {"n": n_excluded})] if n_excluded else []),
        *(
            [
                Statement(
                    "computed",
                    {
                        "dtype": dtypes,
                        "torch": versions["torch"],
                        "transformers": versions["transformers"],
                        "cite": Cited(("wolf2020transformers",)),
                        "whom": Models(
                            tuple(
                                str(model["name"])
                                for model in signature["models"]
                                if model not in served and model not in from_files
                            )
                            if served or from_files
                            else ()
                        ),
                    },
                )
            ]
            if "torch" in versions and dtypes.items
            else []
        ),
        *(_served(model) for model in served),
        *(
            Statement(
                "from a file" if "scores" in model else "vectors from a file",
                {
                    "whom": shown_name(str(model["name"])),
                    **{name: (model.get("scores") or model["vectors"])[name] for name in ("file", "form")},
                },
            )
            for model in from_files
        ),
        Statement("tool", {"version": versions.get("hakari", ""), "signature": digest(signature)}),
    ]
    return Methods(tuple(statements), {**WORKS, **entries})


def _served(model: Mapping[str, Any]) -> Statement:
    """What computed a model behind a server."""
    server = model["endpoint"]
    version = {"version": server["version"]} if server.get("version") else {}
    return Statement(
        "served" if version else "served without version",
        {"whom": shown_name(str(model["name"])), "model": server["model"], **version},
    )


def _worded(part: Any, words: Any) -> str:
    """A part in the words of a language."""
    if isinstance(part, Choice):
        return str(words.WORDS[part.group][part.name])
    if isinstance(part, Phrase):
        with in_language(words.LANGUAGE):
            return tr(part.text)
    if isinstance(part, Data):
        with in_language(words.LANGUAGE):
            return shown_dataset(part.name)
    if isinstance(part, Cited):
        return f"{_BEGIN}{','.join(part.keys)}{_END}"
    if isinstance(part, Names):
        return str(words.listed([_worded(item, words) for item in part.items]))
    if isinstance(part, Models):
        return str(words.OF_MODELS.format(models=words.listed(list(map(shown_name, part.names))))) if part.names else ""
    if isinstance(part, Named):
        form = (words.LABELLED if part.label else words.MODEL)[bool(part.revision)]
        name = form.format(name=part.name, revision=part.revision, label=part.label)
        return str(words.WITH_CITATION.format(name=name, cite=f"{_BEGIN}{part.key}{_END}") if part.key else name)
    return f"{part:,}" if isinstance(part, int) else str(part)


def _written(text: str, escape: Any, cite: Any) -> str:
    """The text in a format: `escape` for what is no citation, `cite` for the keys of one."""
    parts: Sequence[str] = _CITED.split(text)
    return "".join(cite(part.split(",")) if index % 2 else escape(part) for index, part in enumerate(parts))
