"""Whether this process may take as much memory as training needs."""

from engine.core.errors import ExplorerError

NEEDED = 2_000
"""Megabytes of address space: torch's libraries and threads take 1,200, before any records."""


class MemoryLimitError(ExplorerError):
    """A limit on memory below which training cannot start."""


def check() -> None:
    """Stops before a library ends the process, or makes it wait for ever, in the middle of a run.

    Raises:
        MemoryLimitError: The limit of this process (`ulimit -v`) is too low.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < NEEDED * 1_000_000:
        raise MemoryLimitError(
            f"memory: expected a limit of at least {NEEDED:,} MB for this process, got "
            f"{limit / 1e6:,.0f} MB: raise it (`ulimit -v unlimited`) and start again"
        )
