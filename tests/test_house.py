"""Sizes of files and functions, and that no code stands twice."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(path for place in ("engine", "pages") for path in (ROOT / place).rglob("*.py"))
WINDOW = 6
"""So many lines in a row may not stand in two places."""
FILE_LINES, FUNCTION_LINES = 300, 50
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)
CONSTANT = (ast.Assign, ast.AnnAssign, ast.Expr)


def declared(tree: ast.Module) -> set[int]:
    """The lines that declare: imports, docstrings, constants of a module, fields of a class."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, IMPORT)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            nodes += [part for part in node.body if isinstance(part, CONSTANT)]
        elif isinstance(node, FUNCTION) and ast.get_docstring(node) is not None:
            nodes.append(node.body[0])
    return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}


def code(text: str) -> list[tuple[int, str]]:
    """Every other line that holds a letter or a digit, by number, without margins and comments."""
    left_out = declared(ast.parse(text))
    lines = ((at, line.split("  #")[0].strip()) for at, line in enumerate(text.splitlines(), 1))
    return [
        (at, line)
        for at, line in lines
        if at not in left_out and line[:1] != "#" and any(map(str.isalnum, line))
    ]


def repeated(texts: dict[str, str]) -> list[list[str]]:
    """Where six lines of code stand that stand elsewhere too."""
    places = defaultdict(list)
    for name, text in texts.items():
        lines = code(text)
        for first in range(len(lines) - WINDOW + 1):
            window = tuple(line for _, line in lines[first : first + WINDOW])
            places[window].append(f"{name}:{lines[first][0]}")
    return [where for where in places.values() if len(where) > 1]


def long_functions(text: str) -> list[str]:
    """The functions that are too long, their docstring included."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, FUNCTION) and node.end_lineno - node.lineno >= FUNCTION_LINES
    ]


def texts() -> dict[str, str]:
    """The source of every module, by its path."""
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in FILES}


def test_no_six_lines_of_code_stand_twice():
    assert repeated(texts()) == []


def test_files_have_at_most_300_lines():
    sizes = {name: len(text.splitlines()) for name, text in texts().items()}
    assert {name: size for name, size in sizes.items() if size > FILE_LINES} == {}


def test_functions_have_at_most_50_lines():
    assert {name: long for name, text in texts().items() if (long := long_functions(text))} == {}


def test_what_stands_twice_or_is_too_long_is_seen():
    body = "".join(f"    x{i} = {i}\n" for i in range(WINDOW))
    assert repeated({"a": f"def f():\n{body}", "b": f"def g():\n    '''Says.'''\n{body}"})
    assert not repeated({"a": f"def f():\n{body}", "b": f"def g():\n{body.replace('x3', 'y')}"})
    assert not repeated({name: body.replace("    ", "") for name in "ab"})  # constants
    line = "    pass\n"
    assert long_functions(f"def f():\n{line * FUNCTION_LINES}") == ["f"]
    assert long_functions(f"def f():\n{line * (FUNCTION_LINES - 1)}") == []
