"""The theme's colours, by the numbers of the stand-ins that figures carry."""

import functools
import tomllib
from pathlib import Path
from typing import Any

from plotly.colors import find_intermediate_color, hex_to_rgb

CONFIG = Path(__file__).parents[3] / ".streamlit" / "config.toml"


@functools.cache
def theme(name: str) -> dict[str, Any]:
    """Streamlit's settings of the light or the dark theme."""
    settings: dict[str, Any] = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][name]
    return settings


def palette(name: str) -> dict[str, str]:
    """Colours of a theme: series from 1, scales from 11 and 21, lines 35, muted, ink, ground 38."""
    own = theme(name)
    scales = [own[f"chart{kind}Colors"] for kind in ("Categorical", "Sequential", "Diverging")]
    series = {str(i): one for i, one in enumerate([one for scale in scales for one in scale], 1)}
    ink, ground = own["textColor"], own["backgroundColor"]
    muted = find_intermediate_color(hex_to_rgb(ink), hex_to_rgb(ground), 0.3)
    grey = "#" + "".join(f"{round(part):02x}" for part in muted)
    return {**series, "35": own["borderColor"], "36": grey, "37": ink,
            "38": ground}  # fmt: skip
