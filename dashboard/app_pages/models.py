"""Models: the built-in ones with their held-out figures, and how to bring another."""

import streamlit as st

from dashboard import pages
from dashboard.charts.theme import DIRECTIONS
from dashboard.wording import show_error, verbatim
from engine.errors import ModelError
from engine.models.cards import BUILT_IN, held_out_figures, training_record

BRING = """Wherever a page asks for models, type one and press Enter:

- a **Hugging Face id**, such as `owner/name`, or `owner/name@revision` for a branch, tag or commit. It is fetched once;
  `HF_HOME` and `HF_TOKEN` are respected.
- a **directory** on the machine Hakari runs on, in Hugging Face layout: `config.json`, the tokenizer's files, and the
  weights as `model.safetensors` or `pytorch_model.bin`.

Encoders, masked and causal language models of the transformers library work. Code that comes with a model is never run,
and a `pytorch_model.bin` is read as weights only. To make a small model from a corpus of your own:
`python -m engine pretrain --corpus FILES --architecture bert --out DIR`."""
USES = {
    "masked": ("clusters", "alignment", "minimal_pairs"),
    "causal": ("minimal_pairs",),
}

pages.heading("models")
for name, card in BUILT_IN.items():
    with st.container(border=True, key=f"model-{name}"):
        st.subheader(card.label, anchor=False)
        st.markdown(f"`{name}` :gray[· {card.kind} language model]  \n{verbatim(card.description)}")
        try:
            record, figures = training_record(name), held_out_figures(name)
        except ModelError as error:
            show_error(error)
            continue
        with st.container(horizontal=True):
            for figure in figures:
                value = f"{figure.value:.1%}" if figure.unit.startswith("share") else f"{figure.value:.2f}"
                st.metric(verbatim(figure.name[:1].upper() + figure.name[1:]), value, width="content", help=(
                    f"{figure.unit}, {DIRECTIONS[figure.better]}; measured on documents kept out of training."))
        settings, train, held_out = record["settings"], record["train"], record["held_out"]
        st.caption(verbatim(
            f"{record['parameters']:,} parameters · {settings['layers']} layers, {settings['hidden']} wide · "
            f"vocabulary {settings['vocab_size']:,} · {settings['max_length']} tokens at most · "
            f"trained on {train['documents']:,} documents ({train['characters']:,} characters), "
            f"measured on {held_out['documents']:,} others"))
        with st.container(horizontal=True):
            for page in USES[card.kind]:
                st.page_link(pages.path(page), label=f"Weigh it: {pages.card(page).title}")
        with st.popover("Training record", type="tertiary", icon=":material/receipt_long:", key=f"model-record-{name}"):
            st.json(record, expanded=1)

st.subheader("Bring another model", anchor=False)
st.markdown(BRING)
