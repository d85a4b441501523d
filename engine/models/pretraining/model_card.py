"""The model card of a pretrained model: a record for programs and a README for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.messages.message import Message, list_of
from engine.models.pretraining.settings import USUAL_TOKENIZERS

LANGUAGES = {"ja": Message("Japanese"), "en": Message("English")}
MASKED_TOKENIZERS = {
    "wordpiece": Message("MeCab (unidic-lite) + WordPiece"),
    "basic-wordpiece": Message("lower-cased WordPiece inside words between spaces and punctuation"),
    "character": Message("MeCab (unidic-lite) + characters"),
    "unigram": Message("Unigram with byte fallback (NFKC, no separator space)"),
}


def vocabulary(record: dict[str, Any]) -> int:
    """The pieces of a model's vocabulary: as many as asked for, or fewer where the corpus has no more.

    Records from before 0.3.0 have the number asked for alone.
    """
    return int(record.get("vocabulary", record["settings"]["vocab_size"]))


def write_model_card(out: Path, record: dict[str, Any]) -> None:
    """Write `pretraining.json` (the record) and `README.md` (the same in words) into `out`.

    `record` may also hold "license", an identifier of the Hugging Face hub, and "sources": whose texts the corpus is
    and under which terms, a sentence each. `pretrain` knows neither of a corpus and writes none.
    """
    settings, train, held_out = record["settings"], record["train"], record["held_out"]
    language = settings.get("language", "ja")
    tokenizer = MASKED_TOKENIZERS[settings.get("tokenizer") or USUAL_TOKENIZERS[language][settings["architecture"]]]
    if settings["architecture"] == "bert":
        kind = "masked"
        result = Message(
            "masked-token top-1 accuracy **{held_out:.1%}** and {held_out_:.2f} nats per token, over "
            "{held_out__:,} tokens masked as in training (15% chosen; of these 80% become [MASK], 10% "
            "another token, 10% stay); **{held_out___:.1%}** and {held_out____:.2f} nats where every "
            "chosen token becomes [MASK]",
            held_out=held_out["masked_accuracy"],
            held_out_=held_out["masked_nats"],
            held_out__=held_out["n_masked"],
            held_out___=held_out["mask_only_accuracy"],
            held_out____=held_out["mask_only_nats"],
        )
    else:
        kind = "causal"
        result = Message(
            "**{held_out:.2f}** nats per token and **{held_out_:.2f}** nats per character over {held_out__:,} tokens",
            held_out=held_out["nats_per_token"],
            held_out_=held_out["nats_per_character"],
            held_out__=held_out["n_tokens"],
        )
    lines = [
        "---",
        f"language: {language}",
        Message("library_name: transformers"),
        *([Message("license: {record}", record=record["license"])] if record.get("license") else []),
        "---",
        "",
        f"# {out.name}",
        "",
        Message(
            "A small {kind} language model of {language}, made by `python -m engine pretrain`.",
            kind=kind,
            language=LANGUAGES[language],
        ),
        "",
        "| | |",
        "|---|---|",
        Message(
            "| Architecture | {settings}, {settings_} layers, {settings__} wide, {settings___} heads, {record:,} "
            "parameters, {settings____} tokens at most |",
            settings=settings["architecture"],
            settings_=settings["layers"],
            settings__=settings["hidden"],
            settings___=settings["heads"],
            record=record["parameters"],
            settings____=settings["max_length"],
        ),
        f"| Tokenizer | {tokenizer}, {vocabulary(record):,} pieces |",
        Message(
            "| Corpus | {record}: {train:,} documents, {train_:,} characters, {train__:,} tokens |",
            record=list_of(record["corpus"]),
            train=train["documents"],
            train_=train["characters"],
            train__=train["tokens"],
        ),
        Message(
            "| Training | {settings}{settings_:,} steps of {settings__:,} tokens, {get}, peak learning rate "
            "{settings___:g}, {settings____}, seed {settings_____} |",
            settings=_start(settings),
            settings_=settings["steps"],
            settings__=settings["tokens_per_step"],
            get=settings.get("optimizer", "adamw"),
            settings___=settings["learning_rate"],
            settings____=settings["precision"],
            settings_____=settings["seed"],
        ),
        Message(
            "| Held out | {held_out} documents never trained on: {result} |",
            held_out=held_out["documents"],
            result=result,
        ),
        Message("| Made by | `{record}` |", record=record["command"]),
        *([f"| Notes | {record['notes']} |"] if record.get("notes") else []),
        "",
        *(
            [Message("Sources of the corpus:"), "", *(f"- {source}" for source in record["sources"]), ""]
            if record.get("sources")
            else []
        ),
        Message(
            "It is meant for trying Hakari out and for tests, not for use in earnest: it is small, and knows its corpus"
        ),
        Message("and little else."),
        "",
    ]
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    (out / "pretraining.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _start(settings: dict[str, Any]) -> str:
    return Message("from {name}, ", name=Path(settings["start"]).name) if settings.get("start") else ""
