"""Data as a script in which every part that comes several times is written once.

Pages of a folder may read nothing but scripts.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from plotly.utils import PlotlyJSONEncoder

SHORT = 12
"""Characters of a part that is written wherever it comes."""
Node = tuple[str, Sequence[str], tuple[int, ...]]
"""Its own text or its opening bracket, the names of what it holds, and the places of that."""


def script(known: Any, name: str = "explorer") -> str:
    r"""A script that keeps data under a name of the window.

    Args:
        known: The data, which JSON can hold.
        name: The name.

    >>> print(script({"b": ["a long text </b>", 1.5], "c": "a long text </b>"}, "a"))
    window.a = ((_) => {
    _[0] = "a long text <\/b>"
    return {"b":[_[0],1.5],"c":_[0]}
    })([])
    <BLANKLINE>
    """
    plain = json.loads(json.dumps(known, cls=PlotlyJSONEncoder))
    nodes = dict[Node, int]()
    _enter(plain, nodes)
    times = Counter(place for *_, held in nodes for place in held)
    texts, shared = list[str](), list[str]()
    for node, place in nodes.items():
        text = _written(node, texts)
        if times[place] > 1 and len(text) > SHORT:
            shared.append(f"_[{len(shared)}] = {text}")
            text = f"_[{len(shared) - 1}]"
        texts.append(text)
    lines = [f"window.{name} = ((_) => {{", *shared, f"return {texts[-1]}", "})([])", ""]
    return "\n".join(lines).replace("</", r"<\/")


def _enter(value: Any, nodes: dict[Node, int]) -> int:
    """The place of a value among all parts; those that it holds come before it."""
    node: Node
    if isinstance(value, dict):
        names = [json.dumps(name, ensure_ascii=False) for name in value]
        node = "{", tuple(names), tuple(_enter(one, nodes) for one in value.values())
    elif isinstance(value, list):
        node = "[", (), tuple(_enter(one, nodes) for one in value)
    else:
        node = json.dumps(value, ensure_ascii=False), (), ()
    return nodes.setdefault(node, len(nodes))


def _written(node: Node, texts: Sequence[str]) -> str:
    """A part, from what is written for those that it holds."""
    head, names, held = node
    if head == "{":
        pairs = zip(names, held, strict=True)
        return f"{{{','.join(f'{name}:{texts[place]}' for name, place in pairs)}}}"
    return f"[{','.join(texts[place] for place in held)}]" if head == "[" else head
