"""What is answered on a file that somebody has brought: a proposal, or the table that was written.

A process of its own reads the file, with a limit of memory and time: whatever a file does to the
libraries that read it ends here, as one sentence. The process that asks keeps neither the file's
columns nor the libraries. The child gets the file on its standard input. Its standard output is a
file that begins with the request; it writes its answer behind that, in JSON, and stops when nobody
waits any more.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from datasets import own_names, own_store
from datasets.base import Card
from engine.core.errors import DatasetError, ExplorerError
from engine.core.home import home

MEMORY = 850_000_000
"""Bytes of memory that reading one file may hold."""
SECONDS = 120
"""How long a child may take."""
RESERVED = 3_000_000_000
"""Bytes that it may ask the system for: libraries set more aside than they ever touch."""
EVERY = 0.02
"""Seconds between two looks at a child."""
ROOT = Path(__file__).parents[1]
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""One thread, and no memory set aside for later."""


def answer(file: Any, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """What the child answers: a proposal, or what to know of a table that it wrote.

    Raises:
        DatasetError: The file is no table, or there is no room to keep it; one sentence names all
            that is wrong.
    """
    from datasets import own_columns, own_guess, own_proposal, own_reader, own_table

    try:
        with own_reader.opened(file, name) as source:
            lines = source.lines if request["above"] else ()
            said = own_proposal.said(name, str(request["text"]), lines)
            said = replace(said, accept=said.accept or bool(request.get("accept")))
            columns = own_columns.summarised(source, said.decimal, name)
            proposal = own_guess.proposed(columns, source.odd, said, str(request["label"]))
            if "keep" not in request:
                return {
                    "toml": proposal.toml(), "rows": proposal.rows, "kind": proposal.kind,
                    "columns": {key: vars(one) for key, one in proposal.columns.items()},
                    "dropped": source.dropped, "asked": proposal.asked,
                    "problems": own_table.problems(proposal, columns),
                }  # fmt: skip
            table = own_table.made(name, source, columns, proposal)
            words = own_table.words(proposal)
        keep = str(request["keep"])
        card = named(table.card, keep, str(request["title"]))
        own_store.written(keep, replace(table, card=card), str(request["owner"]), words)
    except OSError as error:
        why = error.strerror or error
        raise DatasetError(f"{name}: expected room to keep it, got {why}") from None
    except MemoryError:
        raise DatasetError(
            f"{name}: expected a file that is read within {MEMORY / 1e6:,.0f} MB, got "
            "one that takes more: leave out rows or columns"
        ) from None
    return {"taken": proposal.taken, "notes": proposal.notes}


def named(card: Card, name: str, title: str) -> Card:
    """The card under a table's name; what the file calls things becomes plain words."""
    usual = f"Your own table ({name.removeprefix(own_store.PREFIX)})"
    return replace(
        card,
        name=name,
        title=own_names.plain(title)[: own_names.MOST] if title.strip() else usual,
        summary=own_names.plain(card.summary),
        record=own_names.plain(card.record),
        features=own_names.names(card.features),
    )


def ask(file: IO[bytes], name: str, request: dict[str, Any]) -> dict[str, Any]:
    """What a child answers on a file.

    Args:
        file: Where its content is read.
        name: What a sentence calls it.
        request: What is asked, as `own.add` and `own.propose` do.

    Raises:
        DatasetError: The file is no table, or takes too much memory or time.
    """
    body = json.dumps({**request, "name": name}).encode()
    command = [sys.executable, "-m", "datasets.own_child", str(os.getpid())]
    environment = {**os.environ, **QUIET, "EXPLORER_HOME": str(home().absolute())}
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        _copied(file, given, name)
        given.seek(0)
        out.write(body)
        out.seek(0)
        child = subprocess.Popen(
            command, stdin=given, stdout=out, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment
        )
        _watch(child)
        out.seek(len(body))
        told = out.read()
    try:
        said: dict[str, Any] = json.loads(told)
    except ValueError:
        raise DatasetError(
            f"{name}: expected a file that is read within {MEMORY / 1e6:,.0f} MB and "
            f"{SECONDS} s, got one that takes more: leave out rows or columns"
        ) from None
    if "error" in said:
        raise DatasetError(said["error"])
    return said


def _copied(file: IO[bytes], place: IO[bytes], name: str) -> None:
    """Copies a file for the child.

    Raises:
        DatasetError: There is no room, or no file may be so large.
    """
    try:
        shutil.copyfileobj(file, place)
        place.flush()
    except OSError as error:
        why = error.strerror or error
        raise DatasetError(f"{name}: expected room to read it, got {why}") from None


def _watch(child: subprocess.Popen[bytes]) -> None:
    """Waits for a child, and ends it where it holds too much memory or takes too long."""
    end = time.monotonic() + SECONDS
    try:
        while child.poll() is None:
            if time.monotonic() > end or _held(child.pid) > MEMORY:
                child.kill()
            time.sleep(EVERY)
    finally:
        child.kill()
        child.wait()


def _held(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Answers one request."""
    limit()
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with os.fdopen(1, "r+b") as out:
        request = json.loads(out.read())
        name = str(request.pop("name"))
        try:
            said = answer(os.fdopen(0, "rb"), name, request)
        except ExplorerError as error:
            said = {"error": str(error)}
        out.write(json.dumps(said).encode())


def _end_with(parent: int) -> None:
    """Ends this process once the one that has asked is gone."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def limit() -> None:
    """Sets the limits of this process, where the system has such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (RESERVED, RESERVED))


if __name__ == "__main__":
    main()
