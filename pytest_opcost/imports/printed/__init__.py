"""A printed `key_averages().table()` of any torch since 1.0 -> a profile."""
