"""Episodes on disk: recordings, archives, logs, and what is read from them."""
