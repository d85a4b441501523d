"""The tables of the bench, as lines of Markdown."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.precision import processor_computes_bf16
from tests.benchmarks.host.cases import HostCase
from tests.benchmarks.measuring import Budget, Ratio
from tests.benchmarks.peer_cases import LIMIT_SHARE, Beside


def heading(machine: str, parts: Sequence[str], texts: str) -> list[str]:
    """Title, machine and versions, and where the texts come from."""
    return [
        "# Benchmarks",
        "",
        f"{machine}. Measured: {', '.join(parts)}. Made by `make bench`.",
        "",
        f"Texts and vocabularies: {texts}",
    ]


def beside(cases: Sequence[Beside], versions: Mapping[str, str]) -> list[str]:
    """Hakari and its peers, and in words which targets are missed and by how much."""
    lines = [
        f"Peers in a separate environment: {', '.join(f'{name} {version}' for name, version in versions.items())}.",
        "",
        "| Work | Beside (batch) | Hakari (s) | Peer (s) | Times as fast | Target | Share of the limit | Largest "
        "difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {case.work} | {case.peer} ({case.batch_size}) | {case.hakari_seconds:.2f} | "
        f"{case.peer_seconds:.2f} | {case.times:.2f} | {case.target:g} | {_percent(case.limit_share)} | "
        f"{case.deviation:.1e} {case.unit} |"
        for case in cases
    ]
    missed = [
        f"- {case.work}: {case.times:.2f} times {case.peer} where {case.target:g} are asked "
        f"({case.times / case.target - 1:+.0%}).{_reason(case)}"
        for case in cases
        if case.times < case.target
    ]
    missed += [
        f"- {case.work}: {case.limit_share:.0%} of the machine's limit where {LIMIT_SHARE:.0%} are asked."
        f"{case.why and ' ' + case.why}"
        for case in cases
        if case.work.endswith("fp32") and case.limit_share and case.limit_share < LIMIT_SHARE
    ]
    return [
        *lines,
        "",
        "The limit is the rate of a large matrix product in the same precision, measured after every "
        "round; the work counts matrix products only, without padding.",
        "This processor multiplies bfloat16 itself."
        if processor_computes_bf16()
        else "This processor does not multiply bfloat16 itself, so bf16 and exact decisions are not measured here.",
        *(["", "Missed:", "", *missed] if missed else []),
    ]


def host(cases: Sequence[HostCase], target: float) -> list[str]:
    """Texts a second through models that cost next to nothing, and in words which targets are missed."""
    lines = [
        "## The host",
        "",
        "Texts a second through models of 2 layers, 64 wide, with 1,000 tokens, in one thread of torch: what is "
        "left is tokenizing, batches, results and the cache. The plain loop calls `encode_batch`, sorts by length "
        "and keeps nothing; Hakari starts with an empty cache and stores every result.",
        "",
        "| Work | Tokenizer alone | Plain loop (batch) | Peer (batch) | Hakari | Of the plain loop | Target | "
        "Times the peer | Largest difference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {case.work} | {case.tokenizer:,.0f} | {case.loop:,.0f} ({case.loop_batch}) | {case.peer_name} "
        f"{case.peer:,.0f} ({case.peer_batch}) | {case.hakari:,.0f} | {case.share:.2f} | {target:g} | "
        f"{case.hakari / case.peer:.2f} | {case.deviation:.1e} {case.unit} |"
        for case in cases
    ]
    missed = [
        f"- {case.work}: {case.share:.2f} of the plain loop where {target:g} are asked."
        for case in cases
        if case.share < target
    ]
    return [*lines, *(["", "Missed:", "", *missed] if missed else [])]


def repeated(case: Ratio) -> list[str]:
    """A run and its repetition."""
    return [
        "| Work | Beside | Again (s) | First (s) | Times as fast | Target |",
        "|---|---|---|---|---|---|",
        f"| {case.work} | {case.peer} | {case.hakari_seconds:.2f} | {case.peer_seconds:.2f} | "
        f"{case.peer_seconds / case.hakari_seconds:.0f} | 50 |",
    ]


def scaled(cases: Sequence[Ratio], target: float) -> list[str]:
    """Two workers beside one; the target is the first case's, the others say what the machine gives."""
    lines = ["| Work | Beside | Two (s) | One (s) | Times as fast | Target |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {case.work} | {case.peer} | {case.hakari_seconds:.2f} | {case.peer_seconds:.2f} | "
        f"{case.peer_seconds / case.hakari_seconds:.2f} | "
        f"{target if case is cases[0] else ''} |"
        for case in cases
    ]
    reached = cases[0].peer_seconds / cases[0].hakari_seconds
    missed = f"- {cases[0].work}: {reached:.2f} times {cases[0].peer} where {target:g} are asked."
    return [*lines, *(["", "Missed:", "", missed] if reached < target else [])]


def budgets(cases: Sequence[Budget]) -> list[str]:
    """What a user waits for, what it takes, and which budgets are missed, with what was measured beside them."""
    if not cases:
        return ["Not measured: there is no Chromium on this machine."]
    missed = [
        f"- {case.work}: {case.value:.3g} {case.unit} where {case.budget:g} are asked "
        f"({case.value / case.budget - 1:+.0%}). {case.why}".rstrip()
        for case in cases
        if case.is_missed
    ]
    return [
        "| What a user waits for | Measured | Budget | Share of it |",
        "|---|---|---|---|",
        *(
            f"| {case.work} | {case.value:.3g} {case.unit} | {case.budget:g} {case.unit} | "
            f"{case.value / case.budget:.0%} |"
            for case in cases
        ),
        *(["", "Missed:", "", *missed] if missed else []),
    ]


def failed(part: str, error: Exception) -> list[str]:
    """A section that could not be measured."""
    return [f"Not measured: {part} ended with {type(error).__name__}: {error}"]


def processor() -> str:
    """The processor's name, as the system says it."""
    names = [line.partition(":")[2].strip() for line in _cpu_info().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _cpu_info() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _reason(case: Beside) -> str:
    """How far the machine would let anybody go, and what else is known."""
    bound = (
        ""
        if case.limit_share is None
        else (
            f" At the limit it would be {case.times / case.limit_share:.2f}: {case.peer} itself reaches "
            f"{case.limit_share / case.times:.0%} of it."
        )
    )
    return bound + (case.why and " " + case.why)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
