"""What a data directory holds: the one list, which the backup, the documents and the tests read.

    python3 -I engine/runs/operation/contents.py      the names that a backup copies as they are, one a line

It imports nothing of the engine, so that any interpreter can print them for `deploy/backup.sh`.
"""

from __future__ import annotations

from dataclasses import dataclass

COPIED, BY_DATABASE, LEFT_OUT = "copied", "by the database's own copy", "left out"


@dataclass(frozen=True)
class Content:
    """A file or folder of the data directory, by a name in which "*" stands for anything.

    holds: what is in it. kept: until when. seen_by: who sees it, beside the operator, who can read every file.
    backup: COPIED, BY_DATABASE or LEFT_OUT.
    """

    name: str
    holds: str
    kept: str
    seen_by: str
    backup: str = COPIED


CONTENTS = (
    Content(
        "hakari.sqlite*",
        "the list of runs (unless it is in PostgreSQL): owners, names, settings, notes and tags, ratings, comments, presets, "
        "accounts with issuer, subject and address, the SHA-256 of the cookies of sign-ins",
        "a run until it is deleted for good; an account as long as the list; a sign-in for 30 days",
        "of a run its owner, and of a shared one every member; accounts nobody",
        BY_DATABASE,
    ),
    Content(
        "datasets",
        "what was submitted: texts, labels, scores, once for equal content",
        "as long as a run or a kept data set has it",
        "the owner of such a run or data set; where it is shared, every member",
    ),
    Content(
        "results",
        "of each run its numbers, the texts that they belong to, and its entry in the list",
        "until the run is deleted for good",
        "the owner; of a shared run every member",
    ),
    Content(
        "corpora",
        "texts that were uploaded for a dictionary, once for equal content",
        "seven days, and longer while an unfinished run needs it",
        "nobody; a dictionary shows the pieces that it counted",
    ),
    Content(
        "dictionaries",
        "the counts of finished dictionaries, each a copy of its run's result",
        "until its run is moved to the bin",
        "the owner; of a shared run every member",
    ),
    Content(
        "pretrained",
        "pretraining jobs: their owner, settings, uploaded texts until the model is done, checkpoints, the model",
        "until the owner deletes the job",
        "the owner; the model, by its address, every member",
    ),
    Content("browsers.key", "the secret that signs the cookies of browsers, without sign-in", "always", "nobody"),
    Content(
        "audit.jsonl*",
        "who did what: accounts, addresses, ids of runs; no text and no name of the data",
        "until the operator rotates it (`HAKARI_AUDIT_LOG`)",
        "nobody",
        LEFT_OUT,
    ),
    Content(
        "cache.sqlite*",
        "finished pieces: vectors, tokens and their scores, under a hash of the sentence",
        "until newer ones displace them, or `clean --pieces`",
        "whoever computes the same again (`HAKARI_CACHE_SHARING`)",
        LEFT_OUT,
    ),
    Content(
        "reading",
        "uploads while processes of their own read them",
        "until it is read; what a killed server left, until the next start",
        "nobody",
        LEFT_OUT,
    ),
    Content("huggingface", "models that were downloaded, where `HF_HOME` names it", "always", "every member", LEFT_OUT),
)


def copied() -> list[str]:
    """The names that a backup copies as they are."""
    return [content.name for content in CONTENTS if content.backup == COPIED]


if __name__ == "__main__":
    print("\n".join(copied()))
