"""Where a network's users are drawn: a spring layout by NetworkX, computed once per panel."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from datasets.base import Integers, PanelTable

MOST = 600
"""Users that a browser draws smoothly with their friendships; more are sampled."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A drawing of a network, or of a part of it.

    Attributes:
        users: Who is drawn, shape (u,).
        places: Coordinates from -1 to 1, shape (u, 2).
        links: Friendships among them, as places in `users`, shape (k, 2).
    """

    users: Integers
    places: NDArray[np.float32]
    links: NDArray[np.int32]


@lru_cache(maxsize=4)
def layout(table: PanelTable) -> Layout:
    """All users, or friends of friends around the first one until there are enough."""
    import networkx

    users = np.arange(len(table)) if len(table) <= MOST else _around(table)
    place = np.full(len(table), -1)
    place[users] = np.arange(len(users))
    links = place[table.friends]
    links = links[(links >= 0).all(axis=1)]
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(users)))
    graph.add_edges_from(links.tolist())
    positions = networkx.spring_layout(graph, seed=0, iterations=60, method="force")
    places = np.array([positions[k] for k in range(len(users))])
    reach = np.abs(places).max(initial=1e-9)
    return Layout(users, (places / reach).astype(np.float32), links.astype(np.int32))


def _around(table: PanelTable) -> Integers:
    """A connected sample: everybody near the first user, by the fewest friendships between."""
    ends = np.concatenate([table.friends, table.friends[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    starts = np.searchsorted(ends[:, 0], np.arange(len(table) + 1))
    order, known, k = [0], {0}, 0
    while len(order) < MOST and k < len(order):
        for friend in ends[starts[order[k]] : starts[order[k] + 1], 1].tolist():
            if friend not in known and len(order) < MOST:
                known.add(friend)
                order.append(friend)
        k += 1
    return np.array(sorted(order), np.int64)
