"""Instance masks: formats of detectors, and repair."""
