"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "weights_*": Kept("Weights of a layer of the trained network", released=True),
    "bias_*": Kept("Biases of a layer of the trained network", released=True),
    "alpha_*": Kept("Budget ratios of a layer; as printed, they come from raw records"),
    "clipping_bound": Kept(
        "Clipping bound that a next step would have, where it adapts", released=True
    ),
    "gradient_norm_edges": Kept("Edges of the bins", released=True, public=True),
    "gradient_norm_counts": Kept("Training records by the norm of their gradient"),
    "test_predictions": Kept("Predicted class of each test record, in their order"),
    "accuracy_by_class": Kept("Accuracy on the test records of each class"),
    "images": Kept("A test record of each class"),
    "predicted": Kept("Its class as the network sees it"),
    "relevance_*": Kept("Relevance of its pixels"),
    "compared_*": Kept("Each feature's share of what tells two test persons apart"),
    "noise_to_signal_layers": Kept("Noise over the clipped sum of each layer"),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = ("layers.*", "past.?.0.*", "past.??.0.*", "white.x")
"""Noise over signal, clipped sums before noise of the last steps, and whitened records."""
