"""The bench's own arithmetic: operations counted by hand, and that a missed target is said."""

from __future__ import annotations

from tests.benchmarks import limits, report
from tests.benchmarks.host_cases import HostCase
from tests.benchmarks.limits import Size
from tests.benchmarks.measuring import Budget, Ratio
from tests.benchmarks.peer_cases import Beside

SMALL = Size(2, 4, 10)


def test_operations_by_hand() -> None:
    # A token through a layer of width 4: 12 matrices of 4 x 4, 2 operations each: 384; attending to 3 tokens, scores
    # and their weighted sum: 2 x 2 x 3 x 4 = 48. 3 tokens, 2 layers: 3 x 2 x 432 = 2,592.
    assert limits.encoded(SMALL, [3]) == 2592
    # One layer whole, 3 x 432 = 1,296; of the last one token whole, 432, and keys and values of the two others:
    # 2 x 2 matrices x 2 x 16 = 128.
    assert limits.read_at_one_position(SMALL, [3]) == 1296 + 432 + 128
    # Twice that, with a dense layer of 4 x 4 (32) and a vocabulary of 10 (80) each.
    assert limits.masked_copies(SMALL, [3], [2]) == 2 * (1856 + 32 + 80)
    # 1 5 6 and 1 5 8 have four tokens, which see 1, 2, 3 and 3: 2 layers x (384 x 4 + 16 x 9), and the head.
    assert limits.read_once(SMALL, [[1, 5, 6], [1, 5, 8]]) == 2 * (384 * 4 + 16 * 9) + 4 * 80


def test_a_missed_target_is_said() -> None:
    kept = Beside("Good, fp32", "peer", 8, 1.0, 2.5, 2.5, 2.0, 0.9, 1e-6, "nats")
    missed = Beside("Bad, fp32", "peer", 8, 1.0, 1.5, 1.5, 2.0, 0.5, 1e-6, "nats", "It rained.")
    lines = report.beside([kept, missed], {"peer": "1"})
    said = lines[lines.index("Missed:"):]
    assert said[2:] == ["- Bad, fp32: 1.50 times peer where 2 are asked (-25%). At the limit it would be 3.00: peer "
                        "itself reaches 33% of it. It rained.",
                        "- Bad, fp32: 50% of the machine's limit where 85% are asked. It rained."]
    assert "Missed:" not in report.beside([kept], {"peer": "1"})
    ray, plain = Ratio("Two on Ray", "one", 2.0, 3.0), Ratio("Two", "one", 2.0, 3.6)
    assert report.scaled([ray, plain], 1.7)[2:] == [
        "| Two on Ray | one | 2.00 | 3.00 | 1.50 | 1.7 |", "| Two | one | 2.00 | 3.60 | 1.80 |  |", "", "Missed:", "",
        "- Two on Ray: 1.50 times one where 1.7 are asked."]
    assert "Missed:" not in report.scaled([plain, ray], 1.7)
    good, bad = (HostCase(name, 9000, 5000, 64, "peer", 1000, 8, 5000 * share, share, 1e-7, "nats")
                 for name, share in (("Fast", 0.8), ("Slow", 0.5)))
    lines = report.host([good, bad], 0.6)
    assert "| Fast | 9,000 | 5,000 (64) | peer 1,000 (8) | 4,000 | 0.80 | 0.6 | 4.00 | 1.0e-07 nats |" in lines
    assert lines[lines.index("Missed:"):][2:] == ["- Slow: 0.50 of the plain loop where 0.6 are asked."]
    assert "Missed:" not in report.host([good], 0.6)
    assert report.budgets([Budget("Wait", 0.25, 0.5)])[2] == "| Wait | 0.25 s | 0.5 s | 50% |"
