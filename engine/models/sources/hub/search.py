"""Models by a part of their name: on this machine, and on the Hugging Face Hub where it can be reached. No torch.

What is listed is what the files or the hub say of a model that has not been loaded; whether its numbers can be trusted
is asked when it is inspected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import AccessError, EngineError, ModelError
from engine.messages.message import Message
from engine.models.sources import model_files
from engine.models.sources.allowed_models import AllowedModels
from engine.models.sources.cards import BUILT_IN
from engine.models.sources.facts import Kind
from engine.models.sources.gguf.header import SUFFIX
from engine.models.sources.gguf.prepared import is_part
from engine.models.sources.memory_budget import Sizes, budget_of
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.weight_headers import published_dtype, weights_in
from engine.precision import AUTO, resolved

LISTED = 20  # of the hub, those downloaded most
BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "I8": 1, "U8": 1}
# Whose ForPreTraining head fills no mask, and which encoders have a causal head only where they are decoders.
NO_MASKED_HEAD = ("electra", "funnel", "convbert")
DECODER_IF_SAID = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "rembert", "megatron-bert")

_LICENSE = re.compile(r"^license:\s*(\S+)\s*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)


@dataclass(frozen=True)
class Match:
    """A model whose name holds what was looked for.

    source: "built-in", "paper", "directory", "cache" or "hub". kind: by the published architecture, None where nothing
    says it. license: an identifier, "" where none is stated. n_bytes: of the weights as published. memory: bytes that
    it takes at least on a CPU. None stands for what is not known. problem: why a copy on this machine cannot be used.
    """

    name: str
    source: str
    kind: Kind | None = None
    license: str = ""
    n_parameters: int | None = None
    n_bytes: int | None = None
    memory: int | None = None
    problem: str = ""


def on_this_machine(query: str, allowed: AllowedModels, further: Iterable[Path] = ()) -> list[Match]:
    """Built-in models, cards of the papers, models in allowed directories and in Hugging Face's cache, by name.

    further: directories of models that may be named beside `allowed`, such as those pretrained here.
    """
    wanted = query.strip().casefold()
    matches = [match for match in _local(allowed, further) if wanted in _words(match.name)]
    return [match for match in dict.fromkeys(matches) if _is_allowed(match.name, allowed)]


def on_hub(query: str, allowed: AllowedModels, api: Any = None) -> list[Match]:
    """The models of the hub that its search finds, those downloaded most first, as far as they may be named.

    api: huggingface_hub's `HfApi`, or what answers as it does. Raises ModelError where the hub cannot be asked.
    """
    from huggingface_hub import HfApi, errors

    try:
        published = list(
            (api or HfApi()).list_models(
                search=query.strip(), limit=LISTED, sort="downloads", expand=["config", "safetensors", "tags"]
            )
        )
    except (errors.HTTPError, errors.OfflineModeIsEnabled, OSError) as error:
        # The message of huggingface_hub is an address and advice for programmers.
        reason = (
            Message("HF_HUB_OFFLINE is set") if isinstance(error, errors.OfflineModeIsEnabled) else type(error).__name__
        )
        raise ModelError(
            Message(
                "The Hugging Face Hub cannot be searched from here ({reason}). Models of this "
                "machine are listed; another is named by its id.",
                reason=reason,
            )
        ) from error
    return [match for match in map(_of_hub, published) if _is_allowed(match.name, allowed)]


def published_kind(config: Mapping[str, Any]) -> Kind | None:
    """Masked, causal or encoder, by the class that a configuration was published with; None where it names none."""
    architecture = next(iter(config.get("architectures") or ()), "")
    model_type = config.get("model_type", "")
    if not architecture:
        return None
    if config.get("is_encoder_decoder") or model_type == "xlnet":
        return "encoder"
    if architecture.endswith(("ForMaskedLM", "WithLMHeadModel")) and "GPT" not in architecture:
        return "masked"
    if architecture.endswith("ForPreTraining") and model_type not in NO_MASKED_HEAD:
        return "masked"
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal" if model_type not in DECODER_IF_SAID or config.get("is_decoder") else "encoder"
    return "encoder"


def described(name: str, source: str, directory: Path) -> Match:
    """A model by the files of its directory."""
    try:
        config = model_files.read_config(directory)
        files = model_files.weight_files(directory)
        kind, n_parameters = published_kind(config), sum(weight.n_numbers for weight in weights_in(files).values())
        return Match(
            name,
            source,
            kind,
            _stated_license(directory),
            n_parameters or None,
            sum(path.stat().st_size for path in files),
            _memory(config, kind, n_parameters, published_dtype(config, files)),
        )
    except (EngineError, OSError) as error:
        return Match(name, source, problem=str(error))


def _local(allowed: AllowedModels, further: Iterable[Path]) -> Iterator[Match]:
    for name, card in BUILT_IN.items():
        yield described(name, "built-in", card.directory)
    for name, paper in PAPER_CARDS.items():
        yield Match(name, "paper", paper.kind)
    for folder in (*allowed.directories, *further):
        if folder.is_dir():
            for directory in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
                if (directory / "config.json").is_file() and not _is_of_gguf(directory):
                    yield described(str(directory), "directory", directory)
                for file in _gguf_files(directory):
                    yield _of_gguf(str(directory / file), "directory", directory / file)
    for repository, directory in cached_snapshots():
        if (directory / "config.json").is_file() and not _is_of_gguf(directory):
            yield described(repository, "cache", directory)
        for file in _gguf_files(directory, "**/"):
            yield _of_gguf(f"{repository}:{file}", "cache", directory / file)


def _gguf_files(directory: Path, below: str = "") -> list[str]:
    """The GGUF files in a directory that can be named, but for parts of one, relative to it."""
    paths = (path for path in directory.glob(f"{below}*{SUFFIX}") if path.is_file() and not is_part(path.name))
    return sorted(path.relative_to(directory).as_posix() for path in paths)


def _is_of_gguf(directory: Path) -> bool:
    """Whether a config.json is that of GGUF files beside it alone."""
    names = {path.name for path in directory.iterdir()}
    return bool(_gguf_files(directory)) and not names & {*model_files.SAFETENSORS, *model_files.PICKLED}


def _of_gguf(name: str, source: str, file: Path) -> Match:
    """A file by its size; its header is read when it is inspected. All that are read are causal."""
    return Match(name, source, "causal", _stated_license(file.parent), None, file.stat().st_size)


def cached_snapshots() -> list[tuple[str, Path]]:
    """The models in Hugging Face's cache: id and directory of the revision that was fetched last."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        repositories = scan_cache_dir().repos
    except (CacheNotFound, OSError):
        return []
    newest = {
        repo.repo_id: max(repo.revisions, key=lambda revision: revision.last_modified).snapshot_path
        for repo in repositories
        if repo.repo_type == "model" and repo.revisions
    }
    return sorted((name, Path(path)) for name, path in newest.items())


def _of_hub(info: Any) -> Match:
    config = getattr(info, "config", None) or {}
    kind = published_kind(config)
    by_type: Mapping[str, int] = getattr(getattr(info, "safetensors", None), "parameters", None) or {}
    n_parameters = sum(by_type.values())
    stated = next(
        (tag.removeprefix("license:") for tag in getattr(info, "tags", None) or () if tag.startswith("license:")), ""
    )
    n_bytes = sum(BYTES.get(dtype, 4) * n for dtype, n in by_type.items())
    return Match(
        str(info.id),
        "hub",
        kind,
        stated,
        n_parameters or None,
        n_bytes or None,
        _memory(config, kind, n_parameters, "float32"),
    )


def _memory(config: Mapping[str, Any], kind: Kind | None, n_parameters: int, dtype: str) -> int | None:
    if not n_parameters:
        return None
    sizes = Sizes(
        kind or "encoder",
        n_parameters,
        int(config.get("vocab_size") or 0),
        int(config.get("hidden_size") or config.get("n_embd") or 0),
    )
    return budget_of(sizes, resolved(AUTO, dtype, sizes.device)).total


def _stated_license(directory: Path) -> str:
    try:
        front = _FRONT_MATTER.match((directory / "README.md").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    stated = _LICENSE.search(front[1]) if front else None
    return stated[1] if stated else ""


def _words(name: str) -> str:
    """What a query is looked for in: the name, and what a card or the papers call the model."""
    labels = [BUILT_IN[name].label] if name in BUILT_IN else []
    if name in PAPER_CARDS:
        labels = [PAPER_CARDS[name].publisher, PAPER_CARDS[name].hub or "", *(s for _, s in PAPER_CARDS[name].labels)]
    return " ".join((name, *labels)).casefold()


def _is_allowed(name: str, allowed: AllowedModels) -> bool:
    try:
        allowed.require(name)
    except AccessError:
        return False
    return True
