"""Training from recorded demonstrations on disk; independent of the simulator."""
