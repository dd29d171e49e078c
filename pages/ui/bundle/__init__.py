"""What can be taken along: a folder of views, cards and numbers that needs no server."""
