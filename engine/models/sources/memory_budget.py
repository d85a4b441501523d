"""The memory that a model takes at least, told before it is loaded. Imports no torch.

Weights in the precision that is computed in; one batch of the fewest tokens, the logits of one piece of its positions,
and what the driver and the libraries of a GPU take. With more memory batches are larger: see `scoring.batching`.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages.message import Message, together
from engine.models.sources.facts import Kind, ModelFacts
from engine.precision import BYTES_PER_WEIGHT

# A batch is not made smaller than this, but for a single text; in tokens, padding included.
SMALLEST_BUDGET = 512
# Numbers that a batch takes for each hidden dimension of a token, estimated in float32: the input of a block, queries,
# keys, values and attention output, twice the four times wider feed-forward layer, and the sums.
NUMBERS_PER_DIMENSION = 16
# Logits that are made at once where memory is short, and what each takes: itself and its share of the softmax.
FEWEST_LOGITS, BYTES_PER_LOGIT = 2**26, 8
# The part of the output matrix that is in float32 at a time, in half precision.
PROJECTED_NUMBERS = 2**25
# Context of the driver, kernels and workspaces of the matrix library on a GPU.
RUNTIME_BYTES = {"cuda": 600 * 2**20, "xpu": 600 * 2**20}
# A precision of half the size, to name in advice.
_HALF = "bf16"


@dataclass(frozen=True)
class Budget:
    """Bytes that a model takes at least on the device or devices that it runs on."""

    precision: str
    weights: int
    activations: int
    logits: int
    runtime: int

    @property
    def working(self) -> int:
        """What is needed beside the weights, on each device."""
        return self.activations + self.logits + self.runtime

    @property
    def total(self) -> int:
        """All of it on one device."""
        return self.weights + self.working

    @property
    def words(self) -> str:
        """In words: the sum and its parts.

        >>> Budget("bf16", 16 * 2**30, 2**27, 2**29, 0).words
        '16.6 GiB in bf16: weights 16.0, activations 0.12, logits 0.50'
        """
        total, weights, activations, precision = *map(gib, (self.total, self.weights, self.activations)), self.precision
        if self.logits and self.runtime:
            return Message(
                "{total} GiB in {precision}: weights {weights}, activations {activations}, logits "
                "{logits}, the GPU's runtime {runtime}",
                total=total,
                precision=precision,
                weights=weights,
                activations=activations,
                logits=gib(self.logits),
                runtime=gib(self.runtime),
            )
        if self.logits:
            return Message(
                "{total} GiB in {precision}: weights {weights}, activations {activations}, logits {logits}",
                total=total,
                precision=precision,
                weights=weights,
                activations=activations,
                logits=gib(self.logits),
            )
        if self.runtime:
            return Message(
                "{total} GiB in {precision}: weights {weights}, activations {activations}, the GPU's runtime {runtime}",
                total=total,
                precision=precision,
                weights=weights,
                activations=activations,
                runtime=gib(self.runtime),
            )
        return Message(
            "{total} GiB in {precision}: weights {weights}, activations {activations}",
            total=total,
            precision=precision,
            weights=weights,
            activations=activations,
        )


@dataclass(frozen=True)
class Sizes:
    """What the budget of a model depends on, where its facts are not known yet: of one that has not been loaded."""

    kind: Kind
    n_parameters: int
    vocab_size: int
    hidden_size: int
    device: str = "cpu"


def budget_of(facts: ModelFacts | Sizes, precision: str) -> Budget:
    """The budget of a model in a resolved precision on the device of its facts.

    A model without a head makes no logits, nor does a causal or masked one that is asked for hidden states alone; the
    budget counts them wherever the model has a head.
    """
    device = facts.device.partition(":")[0]
    logits = 0
    if facts.kind != "encoder":
        logits = min(FEWEST_LOGITS, SMALLEST_BUDGET * facts.vocab_size) * BYTES_PER_LOGIT
        if BYTES_PER_WEIGHT[precision] < 4:
            logits += 4 * min(PROJECTED_NUMBERS, facts.vocab_size * facts.hidden_size)
    return Budget(
        precision,
        facts.n_parameters * BYTES_PER_WEIGHT[precision],
        4 * NUMBERS_PER_DIMENSION * SMALLEST_BUDGET * facts.hidden_size,
        logits,
        RUNTIME_BYTES.get(device, 0),
    )


def advice(facts: ModelFacts, budget: Budget, free_by_device: dict[str, int]) -> str:
    """What would let a model be loaded that does not fit into the free bytes of its devices, in sentences."""
    smaller = budget_of(facts, _HALF)
    capacity = sum(max(0, free - budget.working) for free in free_by_device.values())
    sentences = []
    if BYTES_PER_WEIGHT[budget.precision] > BYTES_PER_WEIGHT[_HALF]:
        fits = Message("and fits") if smaller.weights <= capacity else Message("still too much")
        sentences.append(
            Message(
                "In {_HALF} it takes {total} GiB, {fits} (--precision {_HALF}).",
                _HALF=_HALF,
                total=gib(smaller.total),
                fits=fits,
            )
        )
    first = next(iter(free_by_device), "cpu")
    if first.partition(":")[0] == "cuda":
        room = max(1, min(free_by_device.values()) - budget.working)
        n_cards = max(len(free_by_device) + 1, -(-budget.weights // room))
        names = "+".join(f"cuda:{number}" for number in range(n_cards))
        sentences.append(
            Message("Over {n_cards} such cards it would fit: HAKARI_DEVICES={names}.", n_cards=n_cards, names=names)
        )
    sentences.append(
        Message(
            "Weights are never moved out to the processor or the disk while a model works, which "
            "would take minutes for a sentence: choose a smaller model, or a device with more "
            "memory."
        )
    )
    return together(" ", sentences)


def gib(n_bytes: int) -> str:
    """Bytes in GiB with one digit, of less than 1 GiB with two.

    >>> gib(3 * 2**29), gib(20 * 2**20)
    ('1.5', '0.02')
    """
    return f"{n_bytes / 2**30:,.1f}" if n_bytes >= 2**30 else f"{n_bytes / 2**30:.2f}"
