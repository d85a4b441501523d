"""The image of `deploy/Dockerfile`, built and run without a registry and without an engine's daemon.

Its base is made of Debian's packages (mmdebstrap), buildah builds it in a chroot. A server in it runs as `compose.yaml` has
it: root file system read-only, memory at /tmp, no capabilities and no way to new ones, the image's user. Network and
processes are the machine's, so ports are given by variables.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
BASE = "docker.io/library/python:3.11-slim-bookworm"
USER_ID = 10001  # of the image's user
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
SLIM = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "locale", "man")]
DRIVER = "vfs"  # copies of files: works in every kernel
PIP_SETTINGS = ("index-url", "extra-index-url", "find-links", "cert", "trusted-host", "default-timeout")
# $1 the root, then pairs of a file or folder and where it is mounted, "--", and the command with its variables.
IN_CONTAINER = """
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    shift 2
done
shift
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid=USER --regid=USER --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \\
    env --chdir=/app -i "$@"
""".replace("USER", str(USER_ID))


def missing() -> str:
    """What this machine lacks for it; "" when it has all."""
    if os.geteuid():
        return "needs the rights of root: file systems are mounted"
    lacking = [name for name in ("buildah", "mmdebstrap", "setpriv", "unshare") if shutil.which(name) is None]
    return f"needs {' and '.join(lacking)} (apt-get install buildah mmdebstrap)" if lacking else ""


class Image:
    """The built image, in a store of its own below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.config: dict[str, Any] = {}

    def build(self, context: Path) -> None:
        """Build it from a checkout's files. Raises LookupError without packages of the base, CalledProcessError else."""
        self._make_base()
        settings, places = pip_settings()
        (pip := self._folder / "pip.conf").write_text(settings, encoding="utf-8")
        mounts = [f"--volume={place}:{place}:ro" for place in places] + [f"--volume={pip}:/etc/pip.conf:ro"]
        index = ["--build-arg=TORCH_INDEX=https://pypi.org/simple"] if "find-links" in settings else []
        once = ["--pull-never", "--layers=false", "--format=docker"]
        self._buildah("bud", *once, *mounts, *index, "-f", "deploy/Dockerfile", "-t", "hakari", ".", cwd=context)
        self.config = json.loads(self._buildah("inspect", "--type", "image", "hakari"))["Docker"]["config"]

    @contextmanager
    def mounted(self) -> Iterator[Path]:
        """The root file system of a new container."""
        name = self._buildah("from", "--pull-never", "hakari").strip()
        try:
            yield Path(self._buildah("mount", name).strip())
        finally:
            self._buildah("umount", name)
            self._buildah("rm", name)

    def command(
        self, root: Path, data: Path, files: Mapping[Path, str], variables: Mapping[str, str], words: Sequence[str] = ()
    ) -> list[str]:
        """The words that start the image's own command, or others, in a container.

        data: what is mounted at the image's volume. files: those of the machine by their place in the container.
        """
        places = {data: next(iter(self.config["Volumes"])), **files}
        for place in places.values():
            inside = root / place.removeprefix("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            if place != places[data]:
                inside.touch()
        of_image = dict(pair.split("=", 1) for pair in self.config["Env"])
        own = [*self.config["Entrypoint"], *self.config["Cmd"]]
        return [
            *(
                "unshare",
                "--mount",
                "--propagation=private",
                "--pid",
                "--fork",
                "sh",
                "-ec",
                IN_CONTAINER,
                "sh",
            ),
            *(str(root), *(str(word) for pair in places.items() for word in pair), "--"),
            *(f"{name}={value}" for name, value in {**of_image, "HOME": "/home/hakari", **variables}.items()),
            *(words or own),
        ]

    def bytes(self) -> int:
        """Of all files of the image."""
        with self.mounted() as root:
            return int(
                subprocess.run(["du", "-sbx", root], capture_output=True, text=True, check=True).stdout.split()[0]
            )

    def _make_base(self) -> None:
        archive = self._folder / "base.tar"
        made = subprocess.run(
            [
                *("mmdebstrap", "--variant=minbase", *SLIM, f"--include={PACKAGES}"),
                *(SUITE, str(archive), f"deb {MIRROR} {SUITE} main"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise LookupError(f"needs packages of {MIRROR}: {made.stderr.strip().splitlines()[-1]}")
        with tarfile.open(archive) as base:
            base.extractall(root := self._folder / "base", filter="fully_trusted")
        archive.unlink()
        # As in the published image: pip installs beside Debian's packages, and Python is called python.
        for marker in (root / "usr/lib").glob("python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        (root / "usr/bin/python").symlink_to("python3")
        container = self._buildah("from", "scratch").strip()
        self._buildah("add", "-q", container, str(root), "/")
        self._buildah("commit", "-q", "--rm", container, BASE)
        shutil.rmtree(root)

    def _buildah(self, *words: str, cwd: Path | None = None) -> str:
        store = [
            "--root",
            str(self._folder / "store"),
            "--runroot",
            str(self._folder / "running"),
            f"--storage-driver={DRIVER}",
        ]
        done = subprocess.run(
            ["buildah", *store, *words],
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "BUILDAH_ISOLATION": "chroot"},
        )
        assert done.returncode == 0, (words, done.stdout[-1000:], done.stderr[-3000:])
        return done.stdout


def pip_settings() -> tuple[str, list[str]]:
    """Where pip takes packages from on this machine, as a pip.conf, and the files and folders that it names."""
    listed = subprocess.run(
        ["python3", "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, str] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        if (name := key.rpartition(".")[2]) in PIP_SETTINGS:
            found[name] = ast.literal_eval(value)
    named = [word.removeprefix("file://") for value in found.values() for word in value.split()]
    places = [word for word in named if word.startswith("/") and Path(word).exists()]
    places = [word.removesuffix("/simple") for word in places]  # the files of an index lie beside its pages
    return "[global]\n" + "".join(f"{name} = {value}\n" for name, value in found.items()), places
