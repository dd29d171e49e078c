"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "filters": Kept("Filters of the first layer", released=True),
    "filters_second": Kept("Filters of the second layer", released=True),
    "weights_*": Kept("Weights of the auto-encoder or of the output layer", released=True),
    "calibration": Kept("Predicted chance, how often it came true, and windows, by group"),
    "by_friends": Kept("Friends, accuracy and windows, by group of users"),
    "course": Kept("Predicted chance of each drawn user at each test time"),
    "came": Kept("Labels of the drawn users at each test time"),
    "best": Kept("Chance by the best predictor of the simulated data"),
    "places": Kept("Where users are drawn"),
    "links": Kept("Friendships among the drawn users"),
}
