"""The model card of a pretrained model: a record for programs and a README for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MASKED_TOKENIZERS = {
    "wordpiece": "MeCab (unidic-lite) + WordPiece", "character": "MeCab (unidic-lite) + characters",
    "unigram": "Unigram with byte fallback (NFKC, no separator space)",
}


def vocabulary(record: dict[str, Any]) -> int:
    """The pieces of a model's vocabulary: as many as asked for, or fewer where the corpus has no more.

    Records of before 0.3.0 have the number asked for alone.
    """
    return int(record.get("vocabulary", record["settings"]["vocab_size"]))


def write_model_card(out: Path, record: dict[str, Any]) -> None:
    """Write `pretraining.json` (the record) and `README.md` (the same in words) into `out`.

    `record` may also hold "license", an identifier of the Hugging Face hub, and "sources": whose texts the corpus is
    and under which terms, a sentence each. `pretrain` knows neither of a corpus and writes none.
    """
    settings, train, held_out = record["settings"], record["train"], record["held_out"]
    bert = settings["architecture"] == "bert"
    if bert:
        kind, tokenizer = "masked", MASKED_TOKENIZERS[settings.get("tokenizer") or "wordpiece"]
        result = (f"masked-token top-1 accuracy **{held_out['masked_accuracy']:.1%}** and "
                  f"{held_out['masked_nats']:.2f} nats per token, over {held_out['n_masked']:,} tokens masked as in "
                  "training (15 % chosen; of these 80 % become [MASK], 10 % another token, 10 % stay); "
                  f"**{held_out['mask_only_accuracy']:.1%}** and {held_out['mask_only_nats']:.2f} nats where every "
                  "chosen token becomes [MASK]")
    else:
        kind, tokenizer = "causal", "Unigram with byte fallback (NFKC, no separator space)"
        result = (f"**{held_out['nats_per_token']:.2f}** nats per token and "
                  f"**{held_out['nats_per_character']:.2f}** nats per character over {held_out['n_tokens']:,} tokens")
    lines = [
        "---", "language: ja", "library_name: transformers",
        *([f"license: {record['license']}"] if record.get("license") else []), "---", "",
        f"# {out.name}", "",
        f"A small {kind} language model of Japanese, made by `python -m engine pretrain`.", "",
        "| | |", "|---|---|",
        f"| Architecture | {settings['architecture']}, {settings['layers']} layers, {settings['hidden']} wide, "
        f"{settings['heads']} heads, {record['parameters']:,} parameters, {settings['max_length']} tokens at most |",
        f"| Tokenizer | {tokenizer}, {vocabulary(record):,} pieces |",
        f"| Corpus | {', '.join(record['corpus'])}: {train['documents']:,} documents, "
        f"{train['characters']:,} characters, {train['tokens']:,} tokens |",
        f"| Training | {_start(settings)}{settings['steps']:,} steps of {settings['tokens_per_step']:,} tokens, "
        f"{settings.get('optimizer', 'adamw')}, peak learning rate "
        f"{settings['learning_rate']:g}, {settings['precision']}, seed {settings['seed']} |",
        f"| Held out | {held_out['documents']} documents never trained on: {result} |",
        f"| Made by | `{record['command']}` |",
        *([f"| Notes | {record['notes']} |"] if record.get("notes") else []), "",
        *(["Sources of the corpus:", "", *(f"- {source}" for source in record["sources"]), ""]
          if record.get("sources") else []),
        "It is meant for trying Hakari out and for tests, not for use in earnest: it is small, and knows its corpus",
        "and little else.", "",
    ]
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    (out / "pretraining.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _start(settings: dict[str, Any]) -> str:
    return f"from {Path(settings['start']).name}, " if settings.get("start") else ""
