from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources.layouts import require_model
from tests.support.layouts import papers as paper_layouts


def test_a_checkpoint_of_tensorflow_alone_says_how_to_convert_it(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError,
        match=(
            r"holds a checkpoint of TensorFlow only \(bert_config.json, .*--tf_checkpoint_path MODEL.ckpt "
            r"--bert_config_file bert_config.json --pytorch_dump_path pytorch_model.bin.*rename bert_config.json to config"
        ),
    ):
        require_model(paper_layouts.tensorflow_only(tmp_path))


def test_a_checkpoint_beside_weights_is_left_alone(tmp_path: Path) -> None:
    paper_layouts.tensorflow_only(tmp_path)  # Tohoku University's archives held both
    (tmp_path / "pytorch_model.bin").touch()
    with pytest.raises(ModelError, match=r"holds bert_config\.json but no config\.json\. Rename it"):
        require_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({}))
    require_model(tmp_path)


def test_a_directory_of_anything_else_is_no_models(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        require_model(tmp_path)
