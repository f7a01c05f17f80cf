"""Training of the learned parts from recorded successful runs; needs the extra `train`."""
