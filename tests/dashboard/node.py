"""Scripts of the pages, carried out without a browser by the Node that comes with Playwright."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable

NODE = compute_driver_executable()[0]


def carried_out(files: list[Path], script: str, before: str = "") -> Any:
    """What a script returns that is written after those of a page; `before` stands in for what a browser has."""
    source = "\n".join(
        [
            before,
            *(file.read_text(encoding="utf-8") for file in files),
            f"console.log(JSON.stringify((() => {{ {script} }})()));",
        ]
    )
    done = subprocess.run(
        [str(NODE), "--input-type=module"], input=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
