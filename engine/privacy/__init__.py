"""Noise and its price: mechanisms, draws, accounting and the guarantee card."""
