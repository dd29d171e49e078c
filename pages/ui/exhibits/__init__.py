"""The Reproduce page: a paper's tables and figures beside ours."""
