"""Files whose right answer is known and differs from member to member, whatever the numbers of a model are.

Each file holds minimal pairs of a sentence and the same letters shuffled, the spaces in their places. In some of its pairs
the shuffled one stands as the acceptable sentence: every language model that has learnt the language is wrong there and
right elsewhere. They are English, as the members' pages and the models that these offer first are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

FEWEST_PAIRS = 11
TIMES = ("today", "yesterday", "in the morning", "last year")
WORDS = ("cat", "dog", "garden", "town", "book", "hill", "river", "window", "bridge", "forest", "sea", "shop", "flower")


@dataclass(frozen=True)
class MemberFile:
    """One upload of one member: pairs (acceptable, unacceptable), of which `n_correct` are right under any model."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    n_correct: int

    @property
    def content(self) -> bytes:
        """The file as CSV."""
        lines = [",".join(pair) for pair in self.pairs]
        return ("acceptable,unacceptable\n" + "\n".join(lines) + "\n").encode()

    @property
    def accuracy(self) -> str:
        """The accuracy as the page shows it."""
        return f"{self.n_correct / len(self.pairs):.1%}"

    @property
    def label(self) -> str:
        """What the page calls the number of pairs."""
        return f"{len(self.pairs)} pairs"


def member_file(member: int, number: int) -> MemberFile:
    """The upload of that number of that member (both from 0 on); no two files have a sentence in common.

    Members differ in the number of pairs, and the uploads of one member in how many are right.

    >>> first, second, other = member_file(0, 0), member_file(0, 1), member_file(1, 0)
    >>> first.name, first.accuracy, second.accuracy, other.label
    ('member-00-0.csv', '9.1%', '18.2%', '12 pairs')
    """
    n = FEWEST_PAIRS + member
    n_correct = 1 + (number + member) % (n - 1)
    pairs = []
    for row in range(n):
        draw = random.Random(f"{member} {number} {row}")
        sentence = (
            f"Person {row} of group {member} saw the {draw.choice(WORDS)} near the {draw.choice(WORDS)} "
            f"{draw.choice(TIMES)} and looked at it {number} times before going home with the others."
        )
        letters = iter(draw.sample(sentence.replace(" ", ""), len(sentence.replace(" ", ""))))
        shuffled = "".join(" " if letter == " " else next(letters) for letter in sentence)
        pairs.append((sentence, shuffled) if row < n_correct else (shuffled, sentence))
    return MemberFile(f"{prefix(member)}{number}.csv", tuple(pairs), n_correct)


def prefix(member: int) -> str:
    """With what the names of a member's files begin."""
    return f"member-{member:02d}-"
