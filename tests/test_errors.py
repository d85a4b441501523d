"""The error tree: what a caller may rely on."""

from __future__ import annotations

import inspect
import pickle

import pytest

from engine import errors
from engine.errors import AccessError, BadRow, Cancelled, EngineError, InputError, ModelError, RunError, WorkerDied


def test_the_tree_is_the_one_drawn_in_the_docstring() -> None:
    classes = {name: cls for name, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, Exception)}
    assert {name: cls.__mro__[1].__name__ for name, cls in classes.items()} == {
        "EngineError": "Exception",
        "InputError": "EngineError",
        "ModelError": "EngineError",
        "RunError": "EngineError",
        "AccessError": "EngineError",
        "WorkerDied": "RunError",
        "Cancelled": "RunError",
    }
    assert all(name in (errors.__doc__ or "") for name in classes)


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (InputError("x"), 2),
        (ModelError("x"), 2),
        (AccessError("x"), 2),
        (RunError("x"), 1),
        (WorkerDied("x"), 1),
        (Cancelled("x"), 1),
    ],
)
def test_exit_codes(error: EngineError, exit_code: int) -> None:
    assert error.exit_code == exit_code
    assert str(error) == "x"


def test_an_input_error_lists_its_rows_under_the_message() -> None:
    error = InputError("Two rows are empty.", [BadRow(3, "no text"), BadRow(7, "no label")])
    assert str(error) == "Two rows are empty.\n  row 3: no text\n  row 7: no label"


def test_a_long_list_is_cut_in_the_message_but_whole_in_rows() -> None:
    error = InputError("Empty.", [BadRow(row, "no text") for row in range(1, 1001)])
    assert str(error).endswith("  row 20: no text\n  … and 980 more rows")
    assert len(error.rows) == 1000


def test_an_input_error_survives_the_way_back_from_a_worker_process() -> None:
    error = InputError("Empty.", [BadRow(3, "no text")])
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.rows, str(again)) == (error.message, error.rows, str(error))
