"""The names of a model's own classes, by the Auto class of transformers that each stands for; none in most processes."""

from __future__ import annotations

# Filled by `own_classes.adopt`, in the process of one model.
NAMES: dict[str, str] = {}


def own_kind(architectures: list[str]) -> str | None:
    """What a model of own classes scores: "masked", "causal" or "encoder"; None where its classes are transformers'.

    architectures: of its configuration; where there are none, the head that its code has decides.
    """
    if not NAMES.keys() - {"AutoConfig"}:
        return None
    for kind, auto_class in (("masked", "AutoModelForMaskedLM"), ("causal", "AutoModelForCausalLM")):
        if auto_class in NAMES and (not architectures or architectures[0] == NAMES[auto_class]):
            return kind
    return "encoder"
