"""Files of a data set of the Hugging Face Hub: fetched once, by their commit, and read from the cache afterwards."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.datasets.hub.names import HubName, parsed, require_allowed
from engine.datasets.hub.parts import Part, chosen, parts_of
from engine.errors import InputError
from engine.messages.message import Message, list_of

HUB_TIMEOUT_SECONDS = 5.0
CONVERTED = "refs/convert/parquet"  # where the hub keeps data of repositories that publish code in their place
DOWNLOADS_VARIABLE = "HAKARI_DOWNLOADS_GB"
READ_FROM = Message("Read from the Hugging Face Hub: {name}, {files}.")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Fetched:
    """Files of a data set, which part each is, and its name with the commit."""

    name: str
    files: tuple[tuple[Part, Path], ...]

    @property
    def notice(self) -> Message:
        """What was read."""
        return READ_FROM.format(name=self.name, files=list_of(part.file for part, _ in self.files))


def fetch(text: str, most_bytes: int) -> Fetched:
    """The files that a name stands for, downloaded unless they are in Hugging Face's cache.

    A commit that is in the cache is read without the network; so is what was fetched before where the hub cannot be
    reached. Raises InputError: no such data set, configuration or split, more bytes than are read, or nothing in the
    cache; AccessError where the instance does not allow it.
    """
    name = parsed(text)
    require_allowed(name.repository)
    if _COMMIT.fullmatch(name.revision) and (cached := _cached(name)):
        return cached
    from huggingface_hub import HfApi, errors

    try:
        return _downloaded(name, HfApi(), most_bytes)
    except (errors.HTTPError, errors.HFValidationError, errors.OfflineModeIsEnabled, OSError) as error:
        if (refused := _refusal(name, error)) is not None:
            raise refused from error
        if cached := _cached(name):
            return cached
        raise InputError(
            Message(
                "{name} is not in the cache, and the Hugging Face Hub cannot be reached ({error}). Download its file "
                "elsewhere, and give it as a file.",
                name=name,
                error=type(error).__name__,
            )
        ) from error


def _downloaded(name: HubName, api: Any, most_bytes: int) -> Fetched:
    from huggingface_hub import snapshot_download

    info, card, revision = _listed(name, api)
    wanted = chosen(name, parts_of([sibling.rfilename for sibling in info.siblings or ()], card))
    sizes = {sibling.rfilename: sibling.size for sibling in info.siblings or ()}
    n_bytes = sum(_size(name, str(info.sha), part.file, sizes.get(part.file)) for part in wanted)
    if n_bytes > most_bytes:
        raise InputError(
            Message(
                "{name} is too large: {n_bytes:,.1f} MiB in {n_files} files; at most {most:,.1f} MiB are read. Name "
                "one configuration or split, or raise the limit with HAKARI_MAX_UPLOAD_MB.",
                name=name,
                n_bytes=n_bytes / 2**20,
                n_files=len(wanted),
                most=most_bytes / 2**20,
            )
        )
    _require_room(name, n_bytes)
    files = [part.file for part in wanted]
    path = snapshot_download(
        name.repository,
        repo_type="dataset",
        revision=revision,  # a branch, so that the cache knows what it stands for
        allow_patterns=list(map(glob.escape, files)),
        etag_timeout=HUB_TIMEOUT_SECONDS,
        tqdm_class=_quiet(),
    )
    _remember(name.repository, Path(path).name, list(sizes), card)
    return _fetched(name, Path(path), wanted)


def _listed(name: HubName, api: Any) -> tuple[Any, Mapping[str, Any], str]:
    """What the hub says of a repository, its card and its revision; of one without data, those of the hub's own copy."""
    how: dict[str, Any] = {"timeout": HUB_TIMEOUT_SECONDS, "files_metadata": True}
    info = api.dataset_info(name.repository, revision=name.revision or None, **how)
    card: Mapping[str, Any] = info.card_data.to_dict() if info.card_data else {}
    if name.revision or parts_of([sibling.rfilename for sibling in info.siblings or ()], card):
        return info, card, name.revision or "main"
    from huggingface_hub import errors

    try:
        return api.dataset_info(name.repository, revision=CONVERTED, **how), {}, CONVERTED
    except errors.RevisionNotFoundError:
        return info, card, "main"


def _cached(name: HubName) -> Fetched | None:
    """What is in the cache of a name, if all of it is; no network is used.

    Which files a commit has is known by the list that was written when one of them was fetched.
    """
    from huggingface_hub import errors, snapshot_download

    for revision in (name.revision,) if name.revision else ("main", CONVERTED):
        try:
            path = Path(
                snapshot_download(
                    name.repository,
                    repo_type="dataset",
                    revision=revision,
                    local_files_only=True,
                    allow_patterns=[],  # of no file it is asked whether it is there
                )
            )
            listed = json.loads(_list_path(name.repository, path.name).read_text(encoding="utf-8"))
            wanted = chosen(name, parts_of(listed["files"], listed["card"]))
        except (errors.LocalEntryNotFoundError, errors.HFValidationError, OSError, ValueError, InputError):
            continue
        if all((path / part.file).is_file() for part in wanted):
            return _fetched(name, path, wanted)
    return None


def _remember(repository: str, commit: str, files: Sequence[str], card: Mapping[str, Any]) -> None:
    """Write which files a commit has, and what its card says of them."""
    path = _list_path(repository, commit)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    text = json.dumps({"files": list(files), "card": {"configs": card.get("configs")}}, default=str)
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _list_path(repository: str, commit: str) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "hakari-datasets" / repository.replace("/", "--") / f"{commit}.json"


def _fetched(name: HubName, snapshot: Path, wanted: Sequence[Part]) -> Fetched:
    named = replace(name, revision=snapshot.name)
    return Fetched(str(named), tuple((part, snapshot / part.file) for part in wanted))


def _size(name: HubName, commit: str, file: str, known: int | None) -> int:
    if known is not None:
        return known
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(name.repository, file, repo_type="dataset", revision=commit)
    return get_hf_file_metadata(url, timeout=HUB_TIMEOUT_SECONDS).size or 0


def _require_room(name: HubName, n_bytes: int) -> None:
    """Raise InputError when Hugging Face's cache would take more than HAKARI_DOWNLOADS_GB, as for models."""
    raw_value = os.environ.get(DOWNLOADS_VARIABLE, "").strip()
    try:
        limit = float(raw_value or 0) * 2**30
    except ValueError:
        limit = 0.0  # refused with words where a model is asked for
    if not limit:
        return
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        used = scan_cache_dir().size_on_disk
    except CacheNotFound:
        used = 0
    if used + n_bytes > limit:
        raise InputError(
            Message(
                "{name} has {n_bytes:,.1f} MiB to download. What was downloaded takes {used:,.1f} of {limit:,.1f} MiB "
                "({variable}). Ask the administrator to make room.",
                name=name,
                n_bytes=n_bytes / 2**20,
                used=used / 2**20,
                limit=limit / 2**20,
                variable=DOWNLOADS_VARIABLE,
            )
        )


def _refusal(name: HubName, error: Exception) -> InputError | None:
    """What the hub's answer means; None where the hub was not reached or failed itself."""
    from huggingface_hub import errors

    if isinstance(error, errors.RevisionNotFoundError):
        return InputError(
            Message(
                "{repository} has no revision {revision!r} on the Hugging Face Hub.",
                repository=name.repository,
                revision=name.revision,
            )
        )
    if isinstance(error, errors.GatedRepoError):
        return InputError(
            Message(
                "{repository} is on the Hugging Face Hub but asks for consent. Accept its terms at {page}, and set "
                "HF_TOKEN to a token of that account.",
                repository=name.repository,
                page=f"https://huggingface.co/datasets/{name.repository}",
            )
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return InputError(
            Message(
                "There is no data set {repository!r} on the Hugging Face Hub, or it is private: then set HF_TOKEN.",
                repository=name.repository,
            )
        )
    return None


def _quiet() -> type[Any]:
    """A tqdm class that prints nothing."""
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **settings: Any) -> None:
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "disable": True})

    return Bar
