"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "filters": Kept("Filters of the first layer", released=True, drawn=False),
    "filters_second": Kept("Filters of the second layer", released=True, drawn=False),
    "weights_*": Kept(
        "Weights of the auto-encoder or of the output layer", released=True, drawn=False
    ),
    "bias_*": Kept("Biases of a layer", released=True, drawn=False),
    "dynamic_*": Kept(
        "What attributes and friends add to the biases of a layer", released=True, drawn=False
    ),
    "test_predictions": Kept(
        "Predicted label of each tested window; 255 where there is none", drawn=False
    ),
    "calibration": Kept("Predicted chance, how often it came true, and windows, by group"),
    "by_friends": Kept("Friends, accuracy and windows, by group of users"),
    "course": Kept("Predicted chance of each drawn user at each test time, %; 255: none"),
    "came": Kept("Labels of the drawn users at each test time"),
    "best": Kept("Chance by the best predictor of the simulated data, %", drawn=False),
    "places": Kept("Where users are drawn"),
    "links": Kept("Friendships among the drawn users"),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = ("*.windows.*", "*.test", "*.ratio", "groups.*.x", "groups.*.y", "groups.*.kept")
