"""The texts of the alignment view and of its printed picture, in the reader's language; both fill in the values."""

from __future__ import annotations

from engine.messages.languages import tr


def view_texts() -> dict[str, str]:
    """The texts of `explanations.js`, by name; places in braces are filled there."""
    return {
        "reference": tr("Reference"),
        "candidate": tr("Candidate"),
        "tokens-of-the-reference": tr("Tokens of the reference"),
        "tokens-of-the-candidate": tr("Tokens of the candidate"),
        "no-match": tr("no match"),
        "undefined": tr("undefined"),
        "special": tr("A special token of the model."),
        "weightless": tr("Its weight is 0."),
        "piece": tr("token {piece}"),
        "similarity": tr("similarity {similarity}"),
        "one-sided": tr("similarity {similarity}, best match of this token only"),
        "idf": tr("idf {idf}"),
        "idf-above": tr("idf {idf} (above {threshold})"),
        "idf-below": tr("idf {idf} (not above {threshold})"),
        "unknown": tr(
            "unknown token: the model sees the same token for all text out of its vocabulary; the penalty "
            "compares the text"
        ),
        "name": tr("name"),
        "name-by": tr("name, reading by {source}"),
        "proper-noun": tr("proper noun"),
        "reading": tr("reading: {reading}"),
        "word-reading": tr("reading of its word: {reading}"),
        "to-special": tr("Its best match is the special token {match}: no word matches it."),
        "share-of-precision": tr("share of precision {share}"),
        "share-of-recall": tr("share of recall {share}"),
        "adds-to-precision": tr("share of precision {share}, adds {amount}"),
        "adds-to-recall": tr("share of recall {share}, adds {amount}"),
        "as-written": tr("{text} (as written)"),
        "nothing": tr("(no match)"),
        "readings": tr("readings {own} / {other}"),
        "distance": tr("{own} / {other}: distance {distance}"),
        "distance-of": tr("{own} / {other}: distance {distance} of {longest}"),
        "joined-distance": tr("all such tokens together: distance {distance}"),
        "joined-distance-of": tr("all such tokens together: distance {distance} of {longest}"),
        "agreement-of-names": tr(
            "M = {agreement}: M² replaces the cosine similarity; a name has at least three times the weight"
        ),
        "agreement-unused": tr("M = {agreement}, not used without the penalty"),
        "how-to-token": tr("Point at a token, tap it, or move with Tab and the arrow keys."),
        "how-to-word": tr("Point at a word, tap it, or move with Tab and the arrow keys."),
        "shade": tr("Shade and number: similarity to the best match, pale at {ground}, the median of this pair."),
        "on-demand": tr("Links are drawn for the token that is pointed at or chosen."),
        "jumps": tr("→ and ←: a best match in a later or an earlier segment."),
        "dashed": tr("Dashed: low-frequency."),
        "dotted": tr("Dotted, ?: unknown token."),
        "underlined-name": tr("Underlined: name."),
        "underlined-noun": tr("Underlined: proper noun."),
        "m-of-names": tr("M: agreement of the readings of names."),
        "m": tr("M: agreement of readings, used by the penalty."),
        "ring": tr("◦: the best match is a special token."),
        "percent": tr("{value}%"),
        "matches": tr("List of matches"),
        "of": tr("Best match of"),
        "similarity-head": tr("Similarity"),
        "both": tr("both"),
        "by-precision": tr("the candidate's token (P)"),
        "by-recall": tr("the reference's token (R)"),
    }


def printed_texts() -> dict[str, str]:
    """The words of the printed picture, by name; `{ground}` in them is filled when it is drawn."""
    return {
        "reference": tr("Reference"),
        "candidate": tr("Candidate"),
        "shade": tr(
            "Shade, width and number: similarity to the best match, pale at {ground}, the median of this pair; "
            "strong where each is the best match of the other."
        ),
        "low": tr("Dashed frame: low-frequency."),
        "unknown": tr("Dotted frame: unknown token."),
        "name": tr("Underlined: proper noun."),
        "names": tr("Underlined: name."),
        "m": tr("M: agreement of readings, used by the penalty."),
        "m-of-names": tr("M: agreement of the readings of names."),
        "special": tr("◦: the best match is a special token."),
        "away": tr("→ and ←: a best match in a later or an earlier line."),
    }
