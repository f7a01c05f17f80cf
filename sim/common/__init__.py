"""What every simulated world shares: the arm, cameras, folders and worker processes."""
