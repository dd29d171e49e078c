"""Speed and accuracy against peers and published figures: `python -m benchmarks`."""
