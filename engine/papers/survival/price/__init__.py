"""What each method releases, how far one record moves it, and what it costs. No torch."""
