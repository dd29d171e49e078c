"""Templates of pages that are taken along: filled in one pass, so that no part is filled again."""

import re
from collections.abc import Mapping


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with its parts; what a part holds is never taken for a place of another.

    >>> filled("A B", {"A": "B", "B": "c"})
    'B c'
    """
    return re.sub("|".join(parts), lambda place: parts[place[0]], template)


def within_script(json: str) -> str:
    r"""JSON that stands in a script of a page and cannot end or nest it.

    >>> print(within_script('"</script><!--"'))
    "\u003c/script>\u003c!--"
    """
    return json.replace("<", "\\u003c")
