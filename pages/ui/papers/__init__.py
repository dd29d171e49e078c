"""What a single paper's page adds, one folder per paper."""
