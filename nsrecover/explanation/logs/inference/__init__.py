"""What most likely happened in a run, from its observations."""
