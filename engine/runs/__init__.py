"""What a run is and how it trains: the job, its events, the loop, its results, the exhibits."""
