"""The private methods that add noise to parameters, objectives, gradients or counts."""
