"""A simulator of brains at rest: correlated regional time series, and what sliding windows see.

What it draws is nobody's record.
"""

import numpy as np

from datasets.base import Floats, Integers

REGIONS, NETWORKS, VOLUMES = 16, 4, 130
"""Brain regions, the networks they belong to (a quarter each), and scans in time."""
WINDOW, STRIDE = 40, 22
"""Scans in a sliding window, and between the starts of two."""
WINDOWS = (VOLUMES - WINDOW) // STRIDE + 1
PAIRS = REGIONS * (REGIONS - 1) // 2
MEMORY = 0.6
"""Correlation of a network's signal with that of the scan before."""
COUPLING, PERSON = 0.9, 0.25
"""How strongly a region follows its network: the mean, and the deviation between persons."""
LOSS = 0.42
"""How much weaker the first network holds together in the second group."""


def connectivity(groups: Integers, seed: int = 20_221_211) -> Floats:
    """Sliding-window correlations of simulated persons.

    Each network has a signal with memory, its regions follow it more or less strongly,
    person by person and slowly waxing and waning in time, under noise of their own. In
    group 1 the first network holds together less. How much is set so that telling the
    groups apart from one example each is right about two times in three.

    Args:
        groups: 0 or 1 for each person, shape (n,).
        seed: Of the generator; the same seed gives the same persons.

    Returns:
        Correlation of each pair of regions in each window, in [-1, 1], shape
        (n, WINDOWS * PAIRS), window by window.
    """
    rng = np.random.default_rng(seed)
    signal = _with_memory(rng.normal(size=(len(groups), NETWORKS, VOLUMES)))
    strength = COUPLING + PERSON * rng.normal(size=(len(groups), NETWORKS, 1))
    strength[groups == 1, 0] -= LOSS
    phase = rng.uniform(0.0, 2.0 * np.pi, (len(groups), NETWORKS, 1))
    tide = 1.0 + 0.3 * np.sin(2.0 * np.pi * np.arange(VOLUMES) / 60.0 + phase)
    followed = np.repeat(strength * tide * signal, REGIONS // NETWORKS, axis=1)
    return _windows(followed + rng.normal(size=followed.shape))


def _with_memory(white: Floats) -> Floats:
    """First-order autoregression along the last axis, with variance one throughout."""
    series = white.copy()
    for t in range(1, white.shape[-1]):
        series[..., t] = MEMORY * series[..., t - 1] + np.sqrt(1.0 - MEMORY**2) * white[..., t]
    return series


def _windows(series: Floats) -> Floats:
    """Correlations of all pairs of regions (n, regions, volumes) in every window."""
    upper = np.triu_indices(REGIONS, 1)
    correlations = []
    for start in range(0, VOLUMES - WINDOW + 1, STRIDE):
        part = series[..., start : start + WINDOW]
        part = part - part.mean(-1, keepdims=True)
        part = part / np.linalg.norm(part, axis=-1, keepdims=True)
        correlations.append((part @ part.swapaxes(1, 2))[:, upper[0], upper[1]])
    windows: Floats = np.clip(np.concatenate(correlations, axis=1), -1.0, 1.0)
    return windows
