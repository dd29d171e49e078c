"""`deployments`: the public registry's budgets, read on this machine for the page Learn."""

import argparse
import sys

from engine.core.errors import RequestError
from engine.yours import registry_list


def take(arguments: argparse.Namespace) -> int:
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
