"""Notice plan execution errors from camera images, say why, and find the shortest way back onto the plan."""
