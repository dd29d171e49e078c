"""Sections and figures of the page on `yesiwell`."""
