"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "filters": Kept("Filters of the first layer", released=True),
    "filters_second": Kept("Norms of the filters of the second layer", released=True),
    "weights_*": Kept("Weights of a layer", released=True),
    "bias_*": Kept("Biases of a layer", released=True),
    "visible_*": Kept("Visible bias of a layer", released=True),
    "maps": Kept("Feature maps of some test images"),
    "learning": Kept("Epochs and test accuracy as it was measured"),
    "dimensions": Kept("Dimensions of the classifier's quadratic", released=True, public=True),
    "whitening_*": Kept(
        "From the second layer's states to the classifier's features", released=True
    ),
    "test_predictions": Kept("Predicted class of each test image, in their order"),
    "noise_*": Kept("Noise over what it is added to"),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = ("answers.*.ratios.*", "answers.*.how.signals.*", "answers.*.test", "ratio", "course")
