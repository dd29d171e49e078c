"""Documents in JSON that somebody has brought: of bounded size, and in the form of a schema.

Nothing in them is run or unpickled. What is wrong is one sentence that names the field.
"""

import functools
import json
from pathlib import Path
from typing import Any, NoReturn

from engine.core.errors import ExplorerError, RequestError

MOST = 1_000_000
"""Bytes of a document at most."""
Document = dict[str, Any]


def content(path: Path, what: str, most: int = MOST) -> bytes:
    """What a file holds, or a byte more than a document may have.

    Raises:
        RequestError: There is no such file.
    """
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise RequestError(f"{what}: expected a file, got {path}: {error.strerror}") from None


def checked(
    given: bytes, schema: Path, what: str, error: type[ExplorerError] = RequestError
) -> Document:
    """The document of a text, in the form of a schema.

    Args:
        given: The text.
        schema: The file of the schema.
        what: What a sentence calls the document.
        error: What is raised where something is wrong.
    """
    document = parsed(given, what, error)
    conforms(document, schema, what, error)
    found: Document = document
    return found


def parsed(given: bytes, what: str, error: type[ExplorerError], most: int = MOST) -> Any:
    """What a text in JSON holds; arguments as `checked`, and its bytes at most."""
    if len(given) > most:
        raise error(f"{what}: expected at most {most / 1e6:g} MB, got more")
    try:
        return json.loads(given.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise error(f"{what}: expected JSON, got {problem}") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text}, which is no number of JSON")


def conforms(document: Any, schema: Path, what: str, error: type[ExplorerError]) -> None:
    """Raises an error that names a field which is not as the schema says, if there is one."""
    from jsonschema.exceptions import best_match

    problem = best_match(_validator(schema).iter_errors(document))
    if problem is None:
        return
    place = "/".join(map(str, problem.absolute_path)) or what
    given = problem.instance
    if problem.validator == "required":
        missing = next(name for name in problem.validator_value if name not in given)
        raise error(f"{missing}: expected a value in {place}, got none")
    if problem.validator == "additionalProperties":
        known = problem.schema["properties"]
        unknown = next(name for name in given if name not in known)
        raise error(f"{unknown}: expected one of {', '.join(known)}, got {unknown!r}")
    said = problem.schema.get("expected", f"the form of {schema.name} ({problem.message})")
    raise error(f"{place}: expected {said}, got {str(given)[:60]!r}")


@functools.cache
def _validator(schema: Path) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
