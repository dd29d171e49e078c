"""The command line: `python -m engine`. No torch until something runs."""
