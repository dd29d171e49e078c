"""A process that reads a file that somebody has brought, with a limit of memory and time.

Whatever a file does to the libraries that read it ends here, as one sentence. The process that asks
keeps neither the file's columns nor the libraries. The child gets the request and the file on its
standard input and answers in JSON on its standard output; it stops when nobody waits any more.
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
from pathlib import Path
from typing import IO, Any

from datasets.own_answer import MEMORY

SECONDS = 120
"""How long a child may take."""
RESERVED = 3_000_000_000
"""Bytes that it may ask the system for: libraries set more aside than they ever touch."""
EVERY = 0.02
"""Seconds between two looks at a child."""
ROOT = Path(__file__).parents[1]
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""One thread, and no memory set aside for later."""
DIGITS = 12


def ask(file: IO[bytes], name: str, request: dict[str, Any]) -> dict[str, Any]:
    """What a child answers on a file.

    Args:
        file: Where its content is read.
        name: What a sentence calls it.
        request: What is asked: `own_answer.answer` says which keys there are.

    Raises:
        DatasetError: The file is no table, or takes too much memory or time.
    """
    from engine.core.errors import DatasetError
    from engine.core.home import home

    body = json.dumps({**request, "name": name}).encode()
    command = [sys.executable, "-m", "datasets.own_child", str(os.getpid())]
    environment = {**os.environ, **QUIET, "EXPLORER_HOME": str(home().absolute())}
    with tempfile.TemporaryFile() as given:
        given.write(b"%0*d" % (DIGITS, len(body)) + body)
        shutil.copyfileobj(file, given)
        given.seek(0)
        said = subprocess.DEVNULL
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(
                command, stdin=given, stdout=out, stderr=said, cwd=ROOT, env=environment
            )
            _watch(child)
            out.seek(0)
            told = out.read()
        try:
            answer: dict[str, Any] = json.loads(told)
        except ValueError:
            raise DatasetError(
                f"{name}: expected a file that is read within {MEMORY / 1e6:,.0f} MB and "
                f"{SECONDS} s, got one that takes more: leave out rows or columns"
            ) from None
    if "error" in answer:
        raise DatasetError(answer["error"])
    return answer


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


class Rest:
    """A file without its first bytes, as a file."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self.file, self.start = file, start
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        return self.file.read(size)

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Goes to a place, counted from behind the bytes that are left out."""
        at = self.file.seek(place + (self.start if whence == os.SEEK_SET else 0), whence)
        return at - self.start

    def tell(self) -> int:
        """The present place."""
        return self.file.tell() - self.start

    def readable(self) -> bool:
        """A file that can be read."""
        return True

    def writable(self) -> bool:
        """A file that is only read."""
        return False

    def flush(self) -> None:
        """Nothing waits to be written."""

    def seekable(self) -> bool:
        """A file whose places can be chosen."""
        return True


def main() -> None:
    """Answers one request."""
    limit()
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    file = os.fdopen(0, "rb")
    length = int(file.read(DIGITS))
    request = json.loads(file.read(length))
    name = str(request.pop("name"))
    from datasets import own_answer
    from engine.core.errors import ExplorerError

    try:
        answer = own_answer.answer(Rest(file, DIGITS + length), name, request)
    except ExplorerError as error:
        answer = {"error": str(error)}
    except OSError as error:
        answer = {"error": f"{name}: expected room to keep it, got {error.strerror}"}
    sys.stdout.write(json.dumps(answer))


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
