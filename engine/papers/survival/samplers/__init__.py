"""The sanitised posterior, and two ways of drawing from it."""
