"""The page of the private mean."""
