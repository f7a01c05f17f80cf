"""Objects from masked depth: boxes, which is which, memory."""
