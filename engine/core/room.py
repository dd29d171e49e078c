"""Whether this process may take as much memory as it needs: libraries crash or hang below that."""

import sys

from engine.core.errors import ExplorerError

NEEDED = 2_000
"""Megabytes of address space: torch's libraries and threads take 1,200, before any records."""
READS = 1_200
"""Megabytes for what trains nothing: prices, cards, bundles and slides end within 1,000."""


class MemoryLimitError(ExplorerError):
    """A limit on memory below which a command, the app or its worker cannot start."""


def check(needed: int = NEEDED) -> None:
    """Stops before a library ends the process, or makes it wait for ever, in the middle of work.

    Args:
        needed: Megabytes of address space; without it, what training needs.

    Raises:
        MemoryLimitError: The limit of this process (`ulimit -v`) is too low.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < needed * 1_000_000:
        raise MemoryLimitError(
            f"memory: expected a limit of at least {needed:,} MB for this process, got "
            f"{limit / 1e6:,.0f} MB: raise it (`ulimit -v unlimited`) and start again"
        )


def demand() -> None:
    """Ends a program that trains, or starts what trains, with the sentence of `check`."""
    try:
        check()
    except MemoryLimitError as error:
        sys.exit(str(error))
