"""What the processes of runs share: imported by the server that they are forked from, so that it is loaded once.

The dictionaries of readings and of words take a second of processor time, more than a run of a typed pair by itself.
"""

from __future__ import annotations

import pyarrow.dataset
import pyarrow.parquet  # noqa: F401  (both are imported by the first table that is written or read)

from engine.language.readings import by_pykakasi
from engine.language.words import word_spans

by_pykakasi.reading("読")
word_spans("読む")
