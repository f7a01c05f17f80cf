"""Training from recorded demonstrations; reads them from disk and knows nothing of the simulator."""
