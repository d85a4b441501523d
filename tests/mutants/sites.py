"""Where a file can be changed in one point, and how: what `python -m tests.mutants` draws from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# Calls whose arguments are words for people, and what does not run.
SILENT_CALLS = ("Message", "tr", "tr_n", "mark", "named")
# Arguments without any effect on a number, a right or what is read, with all that is given to them: how a page looks,
# words, bounds of memory, what holds a class together, and `strict` over lengths that are equal.
LOOKS = (
    *("border", "delta_arrow", "delta_color", "fixedrange", "font", "gap", "height", "hide_index", "horizontal"),
    *("horizontal_alignment", "icon", "label_visibility", "margin", "opacity", "showgrid", "vertical_alignment"),
    *("width", "zeroline"),
)
WORDS = ("alt", "help", "metavar", "placeholder")
HOLDING = ("eq", "frozen", "max_entries", "maxsize", "show_spinner", "slots", "strict")
WITHOUT_EFFECT = frozenset((*LOOKS, *WORDS, *HOLDING))
JAVASCRIPT: tuple[tuple[str, str, str], ...] = (
    (r" < ", " <= ", "comparison"),
    (r" > ", " >= ", "comparison"),
    (r" === ", " !== ", "comparison"),
    (r" !== ", " === ", "comparison"),
    (r" \+ ", " - ", "operator"),
    (r" - ", " + ", "operator"),
    (r" \* ", " / ", "operator"),
    (r" / ", " * ", "operator"),
    (r" && ", " || ", "logic"),
    (r" \|\| ", " && ", "logic"),
    (r"Math\.min\(", "Math.max(", "operator"),
    (r"Math\.max\(", "Math.min(", "operator"),
    (r"\.x\b", ".y", "axis"),
    (r"\.y\b", ".x", "axis"),
    (r"\btrue\b", "false", "constant"),
    (r"\bfalse\b", "true", "constant"),
)


@dataclass(frozen=True)
class Mutant:
    """One change: the characters from `start` to `end` of the file become `text`."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The source with the change."""
        return source[: self.start] + self.text + source[self.end :]

    def described(self, source: str) -> str:
        """File, line and kind, with what was there and what is there now."""
        before = " ".join(source[self.start : self.end].split())
        return f"{self.path}:{self.line} {self.kind}: {before[:70]} → {' '.join(self.text.split())[:70]}"


def mutants(path: str, source: str) -> list[Mutant]:
    """All changes of one point of a file, Python or JavaScript, in the order of their places."""
    found = _of_javascript(path, source) if path.endswith(".js") else _of_python(path, source)
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def _of_python(path: str, source: str) -> Iterator[Mutant]:
    tree = ast.parse(source)
    starts = _line_starts(source)
    lines = source.split("\n")

    def place(line: int, column: int) -> int:  # ast counts columns in bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node, kind, text in _changed_nodes(tree):
        start, end = place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)
        if f"({text})" != source[start:end]:
            yield Mutant(path, node.lineno, kind, start, end, text if kind.startswith("argument") else f"({text})")


def _changed_nodes(tree: ast.Module) -> Iterator[tuple[ast.expr, str, str]]:
    """Each expression that has a change, the kind of the change, and the changed expression."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SILENT_CALLS:
            continue
        # An f-string's parts have no places of their own that can be written into; annotations and defaults of
        # declared options are read by other tests.
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.keyword) and node.arg in WITHOUT_EFFECT:
            continue
        skipped = [node.annotation] if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation else []
        skipped += [node.returns] if isinstance(node, ast.FunctionDef) and node.returns else []
        waiting += [child for child in ast.iter_child_nodes(node) if child not in skipped]
        if isinstance(node, ast.expr):
            yield from ((node, kind, text) for kind, text in _changes(node))


def _changes(node: ast.expr) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=comparators) if type(operator) in COMPARISONS:
            yield "comparison", ast.unparse(ast.Compare(left, [COMPARISONS[type(operator)]()], comparators))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            if not any(isinstance(side, ast.Constant | ast.JoinedStr) and _is_text(side) for side in (left, right)):
                yield "operator", ast.unparse(ast.BinOp(left, OPERATORS[type(operator)](), right))
        case ast.BoolOp(op=operator, values=values):
            yield "logic", ast.unparse(ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values))
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield "negation", ast.unparse(operand)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "branches", ast.unparse(ast.IfExp(test, orelse, body))
        case ast.Constant(value=bool() as value):
            yield "constant", repr(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", repr(value + 1)
        case ast.Call(func=func, args=args, keywords=keywords):
            for keyword in keywords:
                if keyword.arg is not None and keyword.arg not in WITHOUT_EFFECT:
                    kept = [other for other in keywords if other is not keyword]
                    yield f"argument {keyword.arg}", ast.unparse(ast.Call(func, args, kept))
        case _:
            pass


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _of_javascript(path: str, source: str) -> Iterator[Mutant]:
    starts = _line_starts(source)
    for number, line in enumerate(source.split("\n"), start=1):
        code = line.partition("//")[0]
        if code.lstrip().startswith(("*", "/*", "import ", "export *")):
            continue
        for pattern, text, kind in JAVASCRIPT:
            for found in re.finditer(pattern, code):
                start = starts[number - 1] + found.start()
                yield Mutant(path, number, kind, start, starts[number - 1] + found.end(), text)


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
