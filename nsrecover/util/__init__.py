"""Files, processes, progress and untrusted JSON: nothing about robots."""
