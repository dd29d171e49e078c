"""What fitted parameters are worth, and what a run keeps of them. Nothing here is private."""
