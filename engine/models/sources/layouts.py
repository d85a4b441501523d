"""Layouts of model directories that cannot be read, and how to convert them."""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.model_files import CONFIG, PICKLED, SAFETENSORS, read_config

_TENSORFLOW = re.compile(r"\.ckpt.*\.(index|meta|data-\d{5}-of-\d{5})$")
# Weights that other programs run, often quantised.
_OTHER_FORMATS = {
    ".ggml": "GGML",
    ".onnx": "ONNX",
    ".tflite": Message("TensorFlow Lite"),
    ".mlmodel": Message("Core ML"),
}
CONVERSION_ADVICE = Message(
    "Convert it once, where transformers 4 and tensorflow are installed: python -m "
    "transformers.models.bert.convert_bert_original_tf_checkpoint_to_pytorch "
    "--tf_checkpoint_path MODEL.ckpt --bert_config_file bert_config.json --pytorch_dump_path "
    "pytorch_model.bin"
)
CONFIGURATION = "bert_config.json"


def require_model(directory: Path) -> None:
    """Raise ModelError where `directory` holds no model that can be read: a checkpoint of TensorFlow, or none at all.

    Only the names of the files and config.json are read.
    """
    names = {path.name for path in directory.iterdir()}
    if not names & {*SAFETENSORS, *PICKLED} and any(_TENSORFLOW.search(name) for name in names):
        raise ModelError(
            Message(
                "{directory} holds a checkpoint of TensorFlow only ({names}, …), and Hakari reads "
                "models of PyTorch. {CONVERSION_ADVICE}. Then rename {CONFIGURATION} to {CONFIG}.",
                directory=directory,
                names=list_of(sorted(names)[:4]),
                CONVERSION_ADVICE=CONVERSION_ADVICE,
                CONFIGURATION=CONFIGURATION,
                CONFIG=CONFIG,
            )
        )
    if not names & {*SAFETENSORS, *PICKLED}:
        for suffix, kind in _OTHER_FORMATS.items():
            paths = [*directory.glob(f"*{suffix}"), *directory.glob(f"onnx/*{suffix}")]
            if files := sorted(str(path.relative_to(directory)) for path in paths):
                raise ModelError(
                    Message(
                        "{directory} holds a model in the format {kind} only ({files}), and Hakari "
                        "reads weights of PyTorch (model.safetensors, pytorch_model.bin). Take the "
                        "directory or the Hugging Face id that it was converted from.",
                        directory=directory,
                        kind=kind,
                        files=files[0],
                    )
                )
    if CONFIG not in names and CONFIGURATION in names:
        raise ModelError(
            Message(
                "{directory} holds {CONFIGURATION} but no {CONFIG}. Rename it, or copy it to that name.",
                directory=directory,
                CONFIGURATION=CONFIGURATION,
                CONFIG=CONFIG,
            )
        )
    read_config(directory)
