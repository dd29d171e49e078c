"""`card` and `deployments`: guarantees as files, whether one is in order, and published ones."""

import argparse
import json
import sys
from pathlib import Path

from engine.cli import functions
from engine.cli.shared import requested, show_file, show_json, show_table
from engine.core import files
from engine.core.errors import RequestError
from engine.yours import card_file, deployments, forms, kept_runs, library_run, registry_list

WRONG = 1
"""The exit code for a card that is not in order."""


def make_card(arguments: argparse.Namespace) -> int:
    """Writes or prints the card that the arguments name."""
    return _out(card_file.of_job(requested(arguments)), arguments.to)


def library_card(arguments: argparse.Namespace) -> int:
    """Writes or prints the card of a library's run, or keeps the run and prints its name."""
    given = forms.content(arguments.file, "run")
    if arguments.keep:
        print(kept_runs.keep(given).name)
        if arguments.to is None:
            return 0
    run, found = library_run.parsed(given), None
    if arguments.function:
        stated = f"epsilon={run.epsilon_claimed!r},delta={run.delta!r},relation={run.relation}"
        found = functions.attacked(arguments.function, arguments.data, stated, arguments.seconds)
    return _out(library_run.document(run, found), arguments.to)


def registry_entry(arguments: argparse.Namespace) -> int:
    """Writes or prints a card as an entry of the registry, or the card of an entry."""
    if arguments.file.suffix not in (".yaml", ".yml"):
        return _give(deployments.exported(card_file.read(arguments.file)), arguments.to)
    given = forms.content(arguments.file, "entry")
    return _out(deployments.imported(given.decode("utf-8", "replace")), arguments.to)


def take_registry(arguments: argparse.Namespace) -> int:
    """Reads the registry's files or forgets them, and says what Learn shows then.

    Raises:
        RequestError: Two of these are asked for, or nothing can be read.
    """
    asked = (arguments.place is not None, arguments.fetch, arguments.forget)
    if sum(asked) > 1:
        raise RequestError("deployments: expected one of PLACE, --fetch and --forget, got several")
    left: list[str] = []
    if arguments.fetch:
        _, left = registry_list.fetch()
    elif arguments.place is not None:
        _, left = registry_list.take(arguments.place)
    elif arguments.forget:
        registry_list.forget()
    for sentence in left:
        print(f"left out: {sentence}", file=sys.stderr)
    taken = registry_list.kept()
    if taken is None:
        print("Learn shows the list that comes with this program.")
    else:
        count = len(taken.entries)
        print(
            f"Learn shows {count} {'entry' if count == 1 else 'entries'} of the public registry, "
            f"taken on {taken.date}. It states no licence, so they stay on this machine."
        )
    return 0


def list_kept(arguments: argparse.Namespace) -> int:
    """Prints the runs that are kept here, with the smallest and the largest ε."""
    rows = []
    for name in kept_runs.names():
        one = kept_runs.find(name)
        if one is None:
            print(f"{name}: expected a kept run, got a damaged one: remove it", file=sys.stderr)
            continue
        proved = [price for price, _ in one.prices.values()]
        claimed = list(one.prices)
        ends = (claimed[0], claimed[-1], min(proved), max(proved))
        run = one.run
        rows.append((name, run.library, run.method, run.dataset, run.sampling, *ends))
    head = (
        "name", "library", "method", "data", "sampling", "ε claimed, from", "to",
        "ε proved, from", "to",
    )  # fmt: skip
    if arguments.json:
        keys = (*head[:5], "claimed_low", "claimed_high", "proved_low", "proved_high")
        show_json({"runs": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        show_table("Runs of other libraries", head, rows)
    return 0


def remove_kept(arguments: argparse.Namespace) -> int:
    """Deletes a kept run."""
    kept_runs.remove(arguments.name)
    return 0


def verify_card(arguments: argparse.Namespace) -> int:
    """Says whether a card is in order, or all cards of an export; 1 where one is not."""
    documents = card_file.read_all(arguments.file)
    wrong = [
        f"{place}: {sentence}" if place else sentence
        for place, document in documents.items()
        for sentence in card_file.verify(document)
    ]
    compared = all(map(card_file.compared, documents.values()))
    if arguments.json:
        shown = [_numbers(document) for document in documents.values()]
        about = {"right": not wrong, "wrong": wrong, "compared": compared}
        told = shown[0] if len(shown) == 1 else {"cards": shown}
        show_json({"file": str(arguments.file), **about, **told})
    elif wrong:
        print(*wrong, sep="\n", file=sys.stderr)
    else:
        for place, document in documents.items():
            print(f"{place}: {_right(document)}" if place else _right(document))
    return WRONG if wrong else 0


def _numbers(document: forms.Document) -> dict[str, object]:
    """What a card proves."""
    return {name: document["guarantee"][name] for name in ("status", "epsilon_proved", "delta")}


def _right(document: forms.Document) -> str:
    """What is known of a card with which nothing is wrong."""
    proved, delta = document["guarantee"]["epsilon_proved"], document["guarantee"]["delta"]
    price = "nothing is proved" if proved is None else f"ε = {float(proved):.4g} is proved"
    if card_file.compared(document):
        return f"In order: {price}, at δ = {delta:g}."
    return (
        f"The releases cost what the card says: {price}, at δ = {delta:g}. It is of another "
        "program, version or table: who is protected, and why, was not compared."
    )


def _out(document: forms.Document, path: Path | None) -> int:
    return _give(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n", path)


def _give(text: str, path: Path | None) -> int:
    """Writes or prints a text."""
    if path is None:
        show_file(text)
        return 0
    with files.asked(path):
        files.give(path, text.encode())
    print(path)
    return 0
