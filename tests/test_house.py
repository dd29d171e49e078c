"""Functions stay short, and no shape of code stands twice."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path for place in ("engine", "pages", "datasets") for path in (ROOT / place).rglob("*.py")
)
FUNCTION_LINES = 50
SHAPE = 45
"""A shape counts from so many nodes of the syntax tree on: about five lines."""
AGREED: set[frozenset[str]] = set()
"""Functions that share a shape and stay apart; the reason stands above each."""
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


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


def test_functions_have_at_most_50_lines():
    assert {name: long for name, text in texts().items() if (long := long_functions(text))} == {}


def test_a_function_that_is_too_long_is_seen():
    line = "    pass\n"
    assert long_functions(f"def f():\n{line * FUNCTION_LINES}") == ["f"]
    assert long_functions(f"def f():\n{line * (FUNCTION_LINES - 1)}") == []


def shape(node: ast.AST) -> list[str]:
    """A piece of code without its names and constants: the kinds of its nodes, in order."""
    kinds = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name not in ("ctx", "annotation", "returns"):
            for part in value if isinstance(value, list) else [value]:
                kinds += shape(part) if isinstance(part, ast.AST) else []
    return [*kinds, ")"]


def blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a function, its docstring aside."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            some = getattr(node, name, [])
            if isinstance(some, list) and some:
                told = node is function and ast.get_docstring(function) is not None
                yield some[1:] if told else some


def pieces(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Statements in a row that are just large enough: their shape, and the line they begin in."""
    for some in blocks(function):
        shapes = [shape(one) for one in some]
        for first in range(len(some)):
            kinds: list[str] = []
            for one in shapes[first:]:
                kinds += one
                if len(kinds) - kinds.count(")") >= SHAPE:
                    yield " ".join(kinds), some[first].lineno
                    break


def same(texts: dict[str, str]) -> set[frozenset[str]]:
    """The groups of functions in which a shape stands twice."""
    places: dict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    for name, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, FUNCTION):
                for kinds, line in pieces(node):
                    places[kinds][name, line] = f"{name}:{node.name}"
    return {frozenset(some.values()) for some in places.values() if len(some) > 1}


def test_no_shape_of_code_stands_twice():
    """The same code with other names: declare what differs and write the rest once."""
    assert {tuple(sorted(group)) for group in same(texts()) - AGREED} == set()


def test_a_copy_with_other_names_is_seen():
    line = "    {0} = {1}({0}.first, key={2}) + [1 for {1} in {2} if {1} > 3]\n"
    one = "def f(a, b, c):\n" + line.format("a", "b", "c") * 3
    other = "def g(x, y, z):\n    'Says.'\n" + line.format("x", "y", "z").replace("3", "7") * 3
    assert same({"a": one, "b": other}) == {frozenset({"a:f", "b:g"})}
    assert same({"a": one, "b": other.replace("+", "-")}) == set()


NAMESAKES = {
    "State": 20,  # of a method: nobody but the method looks into it
    "Row": 2, "Scores": 2, "Known": 2, "Run": 3, "Training": 2, "Layer": 2, "Group": 3, "Plan": 2,
    "Quadratic": 2, "Moments": 2, "Sample": 2, "Descent": 3, "Whitened": 3, "Records": 3,
    "Start": 2, "Look": 2, "Sums": 2, "Utility": 2, "Sampled": 2, "Recorder": 2, "Place": 2,
    "Claim": 2, "Shared": 2, "Activation": 2, "Attacked": 2,
}  # fmt: skip
"""Classes of the engine that share a name today, and how many do: no more may come."""


def classes(texts: dict[str, str]) -> dict[str, int]:
    """How many definitions each public class name has."""
    counts: dict[str, int] = defaultdict(int)
    for text in texts.values():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                counts[node.name] += 1
    return counts


def test_a_public_class_of_the_engine_has_a_name_of_its_own():
    """One word, one meaning; CONTRIBUTING has the words."""
    counts = classes({name: text for name, text in texts().items() if name.startswith("engine/")})
    assert {n: c for n, c in counts.items() if c > NAMESAKES.get(n, 1)} == {}


def test_a_name_that_stands_twice_is_seen():
    assert classes({"a": "class A: pass", "b": "class A: pass\nclass _B: pass"}) == {"A": 2}
