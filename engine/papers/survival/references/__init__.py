"""Methods without privacy, for comparison."""
