"""Models: the built-in ones, those of the papers, inspection of any, what is in memory, and how to add another."""

from dataclasses import dataclass

import streamlit as st

from dashboard import pages
from dashboard.models.built_in import built_in_models
from dashboard.models.inspection import inspect_model
from dashboard.models.memory import in_memory
from dashboard.models.papers import papers_models
from dashboard.models.pretrain import pretrain_model
from dashboard.shared.address.page_address import PageAddress
from engine.messages.languages import mark, tr
from engine.options import option, option_of

ADD = mark("""Wherever a page asks for models, type one and press Enter:

- a **Hugging Face id**, such as `owner/name`, or `owner/name@revision` for a branch, tag or commit. It is fetched once;
  `HF_HOME` and `HF_TOKEN` are respected.
- a **directory** on the machine Hakari runs on, in Hugging Face layout: `config.json`, the tokenizer's files, and the
  weights as `model.safetensors` or `pytorch_model.bin`.
- a **GGUF file**, by its path or as `owner/name:file.gguf`; its weights are read dequantised.
- a **card** of the papers: alone, such as `paper/tohoku-univ`, or before a directory whose files do not say how to
  tokenize, such as `paper/nict=/path/to/directory`.

For any other directory that has only a vocabulary, write a `hakari.json` beside the weights. It says how to
tokenize, or names a card and what differs from it:""")
EXAMPLES = """{"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece", "max_tokens": 512}
{"card": "paper/mecab", "segmenter": "mecab:/opt/mecab-ipadic-neologd"}"""
FIELDS = mark("""- `segmenter`: `mecab-ipadic`, `mecab-unidic-lite`, `mecab-jumandic`, `mecab-neologd` (compiled, in
  `HAKARI_NEOLOGD_DIR`), `mecab:DIRECTORY` or `jumanpp`. Left out, words stay as they are.
- `normalize`: `nfkc` and `full-width` come before the segmenter, `lower` after it.
- `vocabulary`: `wordpiece` or `words` (never split) of `vocab.txt`, `sentencepiece` of the one `.model` file, or `own`,
  the tokenizer that the directory has.
- `max_tokens`: the longest input it was trained on, where `config.json` says more.

Encoders, masked and causal language models of the transformers library work, and encoder-decoders on minimal pairs. Code that
comes with a model is run only where the operator allows it, and a `pytorch_model.bin` is read as weights only. To make a
small model from a corpus of your own:
*Pretrain*, or `python -m engine pretrain --corpus FILES --architecture bert --out DIR`.""")


def how_to_add() -> None:
    """Draw how a model that is not built in is named."""
    st.markdown(tr(ADD))
    st.code(EXAMPLES, language="json", wrap_lines=True)
    st.markdown(tr(FIELDS))


TITLES = {
    "built-in": mark("Built-in"),
    "papers": mark("Models of the papers"),
    "inspect": mark("Find and inspect"),
    "pretrain": mark("Pretrain"),
    "memory": mark("In memory"),
    "add": mark("Add a model"),
}
PARTS = {
    "papers": papers_models,
    "inspect": inspect_model,
    "pretrain": pretrain_model,
    "memory": in_memory,
    "add": how_to_add,
}


@dataclass(frozen=True)
class OpenPart:
    """The part of the page that is shown, as written in its URL."""

    part: str = option("built-in", "The part of the page that is shown.", choices=tuple(TITLES))  # untranslated


pages.heading("models")
address, declared = PageAddress("models", "page", anchor="part"), option_of(OpenPart, "part")
address.notices()
# Not tabs, whose labels would be in the URL.
part = st.segmented_control(
    tr("Part of the page"),
    list(TITLES),
    default=address.first(declared, declared.default),
    required=True,
    key=address.key("part"),
    format_func=lambda name: tr(TITLES[name]),
    label_visibility="collapsed",
)
address.keep(declared, part, declared.default)
if part == "built-in":
    built_in_models(address)
else:
    PARTS[part]()
address.write()
