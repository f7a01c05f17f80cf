"""Parts that all simulated worlds share: the arm, cameras, folders and worker processes."""
