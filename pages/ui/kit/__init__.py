"""Widgets and small parts that any page may use: knobs, cards, charts, the address, words."""
