"""Every masked, causal and encoder class of the installed transformers, built tiny, saved and held against itself.

A class is built with the settings of the zoo where it is there, else with small numbers in place of the default
configuration's, and a tokenizer of byte-level BPE. Its directory is loaded by the engine; vectors, similarities and
log-likelihoods are compared with those of plain transformers on the model that was saved (`checks`). Each class has a
process and a time limit of its own. The table is read again by the next call, which goes on where it ended.

Outcomes: "exact" within the tolerances of `checks`; "refused", in words of the engine's own; "not built" from a tiny
configuration, or not run by transformers itself, which says nothing of the engine; "differs" or "traceback", a fault;
"no time" within the limit, which is of the processor's time, so that other work beside it changes no outcome.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import date
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers
from transformers import CONFIG_MAPPING, PretrainedConfig
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from engine.errors import EngineError
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.worker import run_chunk
from tests.models.zoo import checks, references
from tests.models.zoo.kinds.causal import NEWER, OLDER, PLAIN
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.kinds.hybrid import HYBRIDS
from tests.models.zoo.kinds.masked import BERT_LIKE, OTHERS
from tests.models.zoo.specimens import ModelKind, Specimen, build
from tests.models.zoo.tokenizer_files.byte_level import byte_level
from tests.models.zoo.tokenizer_files.word_pieces import BERT

TABLE = Path(__file__).with_name("SWEEP.md")
SECONDS = 120.0
MOST_NUMBERS = 100_000_000  # of a model that counts as tiny
OUTCOMES = ("exact", "refused", "not built", "no time", "differs", "traceback")
MASKED_TOKENS = byte_level(
    "PreTrainedTokenizerFast",
    before="[CLS]",
    after="[SEP]",
    modern=True,
    last=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"],
    **BERT,
)
# By the names that configurations have for the same size.
SMALL = {
    32: "hidden_size d_model n_embd dim emb_dim word_embed_proj_dim attention_hidden_size lru_width",
    64: "intermediate_size ffn_dim d_ff d_inner n_inner encoder_ffn_dim decoder_ffn_dim ffn_hidden_size dff "
    "intermediate_size_mlp",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers "
    "num_key_value_heads num_experts_per_tok num_experts_per_token moe_k",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_local_experts "
    "num_experts n_routed_experts attention_heads",
    8: "head_dim qk_rope_head_dim qk_nope_head_dim v_head_dim d_kv attention_head_dim kv_channels",
    16: "kv_lora_rank q_lora_rank embedding_size sliding_window mamba_d_state state_size",
    1: "n_group topk_group n_shared_experts first_k_dense_replace",
    256: "max_position_embeddings n_positions max_seq_len context_length",
}
# Sizes that some configurations have only with others: the first set that builds a model is taken.
LEFT_OUT: tuple[tuple[str, ...], ...] = (
    (),
    ("num_key_value_heads",),
    ("head_dim",),
    ("num_key_value_heads", "head_dim", "q_lora_rank", "n_group", "topk_group"),
)
DEEPER = 4  # layers, tried last: where one in four is of the kind that reads all tokens
NAMES = ("moe_intermediate_size", "shared_expert_intermediate_size", "hidden_size_per_layer_input")
SIZES: dict[str, int] = {name: size for size, names in SMALL.items() for name in names.split()} | dict.fromkeys(
    NAMES, 32
)


def classes() -> dict[str, str]:
    """The classes by name, with their kind: masked and causal ones, then encoders that have neither head."""
    found: dict[str, str] = {}
    for kind, names in (
        ("masked", MODEL_FOR_MASKED_LM_MAPPING_NAMES),
        ("causal", MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
        ("encoder", MODEL_MAPPING_NAMES),
    ):
        for model_type, name in names.items():
            has_head = (
                model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES or model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
            )
            for class_name in (name,) if isinstance(name, str) else name:
                if model_type in CONFIG_MAPPING and not (kind == "encoder" and has_head):
                    found.setdefault(class_name, kind)
    return found


def sweep(seconds: float, minutes: float, again: Collection[str]) -> None:
    """Try every class that the table does not have, and those to try `again`; write the table after each."""
    end = time.monotonic() + 60 * minutes
    every = classes()
    rows = {name: row for name, row in _read_table().items() if name in every}
    rows = {name: row for name, row in rows.items() if name not in again and row[1] not in again}
    is_whole = True
    for name, kind in every.items():
        if name in rows:
            continue
        if time.monotonic() > end:
            is_whole = False
            break
        outcome, words = _in_process(name, kind, seconds)
        if outcome is None:  # reads no texts
            continue
        rows[name] = (kind, outcome, words)
        print(f"{name}: {outcome} {words}", flush=True)
        _write_table(rows, len(every))
    _write_table(rows, len(every), is_whole=is_whole)


def _in_process(name: str, kind: str, seconds: float) -> tuple[str | None, str]:
    context = multiprocessing.get_context("fork")  # torch and transformers are imported once
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_try, args=(name, kind, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if _in_time(process, receiver, seconds) else ("no time", f"within {seconds:.0f} s")
    except EOFError:
        return "traceback", "the process died"
    finally:
        process.kill()
        process.join()


def _in_time(process: ForkProcess, receiver: Connection, seconds: float) -> bool:
    """Wait for what a process sends; False once it has used so many seconds of a processor, or waited for ten times these."""
    started = psutil.Process(process.pid)
    end = time.monotonic() + 10 * seconds
    while not receiver.poll(0.5):
        with suppress(psutil.NoSuchProcess):
            used = started.cpu_times()
            if used.user + used.system > seconds or time.monotonic() > end:
                return False
    return True


def _try(name: str, kind: str, sender: Connection) -> None:
    with silence_transformers(), tempfile.TemporaryDirectory() as folder:
        sender.send(_outcome(name, kind, Path(folder) / "model"))


def _outcome(name: str, kind: str, folder: Path) -> tuple[str | None, str]:
    model_class = getattr(transformers, name, None)
    try:
        reads_texts = getattr(model_class, "main_input_name", "") == "input_ids"
    except ImportError as error:
        return "not built", one_line_message(error)
    if not reads_texts:
        return (None, "") if kind == "encoder" else ("not built", "takes no token ids, or needs a package")
    specimen = _built(name, kind, folder / "0", LEFT_OUT[0])
    words = specimen
    for number, leaving_out in enumerate(LEFT_OUT[1:], 1):
        if isinstance(specimen, str):
            specimen = _built(name, kind, folder / str(number), leaving_out)
    if isinstance(specimen, str):
        specimen = _built(name, kind, folder / "deeper", (), DEEPER)
    if isinstance(specimen, str):
        return "not built", str(words)
    folder = specimen.folder
    try:
        run_chunk("describe", {"model": str(folder), "items": [None], "settings": {}})
        run_chunk("loading_checks", {"model": str(folder), "items": [None], "settings": {}})
        return _compared(specimen)
    except EngineError as error:
        return "refused", one_line_message(error).replace(str(folder), "it")
    except AssertionError as error:
        return "differs", one_line_message(error)
    except Exception as error:  # a fault of the engine
        return "traceback", f"{type(error).__name__}: {one_line_message(error)}"


def _built(name: str, kind: str, folder: Path, leaving_out: Collection[str], n_layers: int = 2) -> Specimen | str:
    """A class with small sizes but these, or what its configuration says against them."""
    try:
        made = _kind(name, kind)
        if "num_hidden_layers" in made.settings:
            made = replace(made, settings=made.settings | {"num_hidden_layers": n_layers})
        part = None if made.part is None else _without(made.part, leaving_out)
        made = replace(made, settings=_without(made.settings, leaving_out), part=part)
        specimen = build(made, folder, MOST_NUMBERS)
        with (
            torch.inference_mode()
        ):  # sizes that do not go together show themselves only here, and in transformers alone
            model = specimen.model.get_encoder() if specimen.model.config.is_encoder_decoder else specimen.model
            model(input_ids=torch.arange(10, 21)[None], attention_mask=torch.ones(1, 11, dtype=torch.int64))
        return specimen
    except Exception as error:  # whatever a configuration of other sizes raises
        return f"{type(error).__name__}: {one_line_message(error)}"


def _compared(specimen: Specimen) -> tuple[str, str]:
    """Held against plain transformers; where that fails by itself, what the engine says."""
    kind = specimen.described.facts.kind
    parts = [checks.check_vectors] + (
        [] if kind == "encoder" else [checks.check_causal if kind == "causal" else checks.check_masked]
    )
    object.__setattr__(specimen.kind, "kind", kind)
    said, rounded = [], []
    for check in parts:
        try:
            check(specimen)
        except AssertionError as different:
            rounding = _rounding(specimen)
            if rounding is None:
                raise different
            check(replace(specimen, rounding=2 * rounding))  # of the engine and of transformers
            rounded.append(f"as {kind}; transformers itself is {rounding:.1e} from float64")
        except Exception as raised:  # the reference may fail where the engine has words
            own = raised if isinstance(raised, EngineError) else None
            error = own or (_said_of_vectors(specimen) if check is checks.check_vectors else None)
            if error is None:
                raise
            said.append(f"{check.__name__.removeprefix('check_')}: {error}")
    if len(said) == len(parts):
        return "refused", one_line_message(EngineError(*said)).replace(str(specimen.folder), "it")
    return "exact", "; ".join([*said, *rounded[:1]]).replace(str(specimen.folder), "it") or f"as {kind}"


def _rounding(specimen: Specimen) -> float | None:
    try:
        return references.rounding(specimen, range(specimen.described.facts.n_layers + 1))
    except Exception:  # its code may know no float64
        return None


def _said_of_vectors(specimen: Specimen) -> EngineError | None:
    """Why the engine has no vectors of all layers; None where it has them."""
    layers = list(range(specimen.described.facts.n_layers + 1))
    settings = {"layers": layers, "pooling": "mean"}
    try:
        run_chunk("sentence_vectors", {"model": str(specimen.folder), "items": ["rain"], "settings": settings})
    except EngineError as error:
        return error
    return None


def _kind(name: str, kind: str) -> ModelKind:
    for known in (*OLDER, *NEWER, *HYBRIDS, *BERT_LIKE, *OTHERS, *ENCODERS):
        if known.architecture == name:
            return known
    config_class = getattr(transformers, name).config_class
    small, parts = _small(config_class), _parts(config_class)
    tokens = PLAIN if kind == "causal" else MASKED_TOKENS
    cls = None if kind == "causal" else 0
    if "text_config" not in parts:
        return ModelKind(name, name, kind, tokens, small | parts, cls=cls)  # type: ignore[arg-type]
    others = {part: sizes for part, sizes in parts.items() if part != "text_config"}
    return ModelKind(name, name, kind, tokens, others, part=parts["text_config"], cls=cls)  # type: ignore[arg-type]


def _small(config_class: Any) -> dict[str, Any]:
    """Small sizes for each that a configuration has."""
    stated: dict[str, Any] = config_class().to_dict()
    mapped = dict(getattr(config_class, "attribute_map", {}))
    return {field: size for field, size in SIZES.items() if field in stated or mapped.get(field) in stated}


def _parts(config_class: Any) -> dict[str, dict[str, Any]]:
    """The same for the configurations inside it, as of images, which models of several kinds of input have."""
    whole = config_class()
    parts = {name: getattr(whole, name, None) for name in getattr(config_class, "sub_configs", {})}
    return {
        name: {"model_type": part.model_type, **_small(type(part)), **_parts(type(part))}
        for name, part in parts.items()
        if isinstance(part, PretrainedConfig)
    }


def _without(settings: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Settings without some, also inside others."""
    return {
        name: _without(value, names) if isinstance(value, dict) else value
        for name, value in settings.items()
        if name not in names
    }


def _read_table() -> dict[str, tuple[str, str, str]]:
    if not TABLE.is_file():
        return {}
    lines = [line.strip("| \n").split(" | ") for line in TABLE.read_text().splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): (cells[1], cells[2], cells[3] if len(cells) > 3 else "") for cells in lines}


def _write_table(rows: dict[str, tuple[str, str, str]], n_classes: int, *, is_whole: bool = False) -> None:
    counts = Counter(outcome for _, outcome, _ in rows.values())
    text = [
        "# Every class of the installed transformers, tried",
        "",
        f"Written by `python -m tests.models.zoo sweep` with transformers {transformers.__version__}, last on {date.today()}. "
        f"Of {n_classes} classes, those that read no texts included, {len(rows)} have been tried: "
        + ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
        + "."
        + (f" The other {n_classes - len(rows)} read no texts." if is_whole else "")
        + " What the outcomes mean stands in `sweep.py`.",
        "",
        "| Class | Kind | Outcome | In words |",
        "|---|---|---|---|",
        *(
            f"| `{name}` | {kind} | {outcome} | {words.replace('|', '/').strip() or '-'} |"
            for name, (kind, outcome, words) in sorted(rows.items())
        ),
        "",
    ]
    TABLE.write_text("\n".join(text))
