"""The page of a paper: its frame, sidebar, panels and what a section draws from."""
