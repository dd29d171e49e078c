"""What a class has answered: how often each option was chosen, and nothing else.

No name, no session and no time is kept, so that nobody can tell who answered what.
"""

from collections.abc import Sequence

from engine.core.errors import RequestError
from engine.service.database import Database


def add(database: Database, question: str, option: int, options: int) -> None:
    """Counts one answer.

    Args:
        database: The store's.
        question: Key of the question.
        option: Position of the chosen option, from 0.
        options: How many there are.

    Raises:
        RequestError: An option that the question does not have.
        StoreError: The store cannot be written.
    """
    if not 0 <= option < options:
        raise RequestError(f"answer: expected an option from 0 to {options - 1}, got {option!r}")
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO answers (question, option, times) VALUES (?, ?, 1) "
            "ON CONFLICT (question, option) DO UPDATE SET times = times + 1",
            (question, option),
        )


def counts(database: Database, question: str, options: int) -> list[int]:
    """How often each option of a question was chosen; a damaged count counts nothing.

    Raises:
        StoreError: The store cannot be read.
    """
    rows = database.rows(
        "SELECT option, times FROM answers WHERE question = ? "
        "AND typeof(option) = 'integer' AND typeof(times) = 'integer'",
        (question,),
    )
    times = {row["option"]: row["times"] for row in rows}
    return [times.get(option, 0) for option in range(options)]


def clear(database: Database, questions: Sequence[str]) -> None:
    """Forgets the answers to some questions.

    Raises:
        StoreError: The store cannot be written.
    """
    with database.writing() as connection:
        connection.executemany("DELETE FROM answers WHERE question = ?", [(q,) for q in questions])
