"""The lessons, in the order in which they are offered."""

from __future__ import annotations

from dashboard.lessons import cls_vectors, names, short_sentences
from dashboard.lessons.records import Lesson

LESSONS: dict[str, Lesson] = {module.LESSON.name: module.LESSON for module in (cls_vectors, names, short_sentences)}
