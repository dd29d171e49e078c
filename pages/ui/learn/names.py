"""The controls of Learn, by their names in the address, with the texts that each may take."""

from pages.ui.learn.maths import BOUNDS

SCREENS = ("count", "odds", "clipping", "answers", "attack", "papers")
ONLY, FORMULAS = "learn.screen", "learn.formulas"
"""Which screen is shown alone, and whether formulas are shown."""
BUDGETS = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
ANSWERS = ("1", "2", "5", "10", "20", "50", "100")
CONTROLS: dict[str, tuple[str, ...]] = {
    ONLY: SCREENS,
    FORMULAS: ("true", "false"),
    "learn.count": BUDGETS,
    "learn.odds": BUDGETS,
    "learn.bound": tuple(f"{bound:g}" for bound in BOUNDS),
    "learn.answers": ANSWERS,
}
