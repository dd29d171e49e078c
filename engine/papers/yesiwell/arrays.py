"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "weights": Kept("Weights of the layer that answers", released=True),
    "calibration": Kept("Predicted and true shares of the test windows"),
    "by_friends": Kept("Accuracy on users by their number of friends"),
    "course": Kept("Predictions for the users that are drawn"),
    "came": Kept("What the users did"),
    "best": Kept("What the best prediction would be"),
    "places": Kept("Where users are drawn"),
    "links": Kept("Friendships that are drawn"),
}
