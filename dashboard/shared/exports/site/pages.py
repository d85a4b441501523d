"""A site of runs as files: an index and a page for each run, in both languages, that need no server. Pure.

index.html              leads to the language of the reader
ja/index.html, en/…     the runs with their findings; a page for each, with its figures and tables
tables/NAME.zip         all tables of a run in full, and its signature
plotly.min.js           what draws the figures of all pages
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from plotly.offline import get_plotlyjs

from dashboard.shared.exports.report import STYLE, Report, Surroundings, report_html
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.site.collected import Collected
from dashboard.shared.headlines import dataset_title
from engine.messages.languages import LANGUAGES, in_language, language, mark, tr, tr_n, translated
from engine.messages.message import list_of
from engine.models.sources.names import shown_name
from engine.runs.storage.run_record import RunRecord

PLOTLY, TABLES, INDEX = "plotly.min.js", "tables", "index.html"
TITLE = mark("Evaluations of language models")
# The page that stands for both: a browser that runs no script finds two links.
LEADS = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script>location.replace((navigator.language.startsWith("ja") ? "ja" : "en") + "/index.html");</script>
</head><body><main><h1>{title}</h1><p>{links}</p></main></body></html>
"""


def site_files(by_language: Mapping[str, Sequence[Collected]], title: str = "") -> Iterator[tuple[str, bytes]]:
    """The files of a site by their paths, one after the other; by_language has the same runs in each of LANGUAGES.

    title: of the index, in all languages; by default one in the reader's.
    """
    languages = "".join(f'<a lang="{code}" href="{code}/{INDEX}">{name}</a> ' for code, name in LANGUAGES.items())
    yield INDEX, LEADS.format(title=html.escape(title or "Hakari"), links=languages).encode()
    yield PLOTLY, get_plotlyjs().encode()
    for collected in next(iter(by_language.values())):
        yield f"{TABLES}/{_name(collected)}.zip", collected.tables()
    for code, runs in by_language.items():
        with in_language(code):
            yield f"{code}/{INDEX}", _index(runs, title or tr(TITLE)).encode()
            for collected in runs:
                yield f"{code}/{_name(collected)}.html", _page(collected, title or tr(TITLE)).encode()


def _page(collected: Collected, title: str) -> str:
    name = _name(collected)
    links = {title: INDEX} | {label: f"../{code}/{name}.html" for code, label in LANGUAGES.items()}
    return report_html(collected.report, Surroundings(f"../{PLOTLY}", links, f"../{TABLES}/{name}.zip"))


def _index(runs: Sequence[Collected], title: str) -> str:
    languages = " · ".join(f'<a lang="{code}" href="../{code}/{INDEX}">{name}</a>' for code, name in LANGUAGES.items())
    listed = "".join(_entry(collected.report, collected.run, _name(collected)) for collected in runs)
    n_runs = tr_n("{n} run", "{n:,} runs", len(runs))
    return (
        f'<!DOCTYPE html><html lang="{language()}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body><nav>{languages}</nav><main>"
        f'<h1>{html.escape(title)}</h1><p class="quiet">{html.escape(n_runs)} · Hakari</p>{listed}</main></body></html>'
    )


def _entry(report: Report, run: RunRecord, name: str) -> str:
    names = [shown_name(str(model["name"])) for model in report.signature.get("models", ())]
    models = tr("Models: {models}", models=translated(list_of(names)))
    data = tr("Data: {data}", data=dataset_title(run))
    finished = f"{run.finished:%Y-%m-%d}" if run.finished else ""
    about = " · ".join(filter(None, (models, data, finished)))
    return (
        f'<section class="run"><h2><a href="{name}.html">{html.escape(report.title)}</a></h2>'
        f"<p>{html.escape(report.found)}</p>"
        f'<p class="quiet">{html.escape(about)}</p></section>'
    )


def _name(collected: Collected) -> str:
    """The name of a run's files: the same in all languages, another one for each choice of what is shown."""
    return f"{collected.run.kind}-{digest(collected.report.signature)}"
