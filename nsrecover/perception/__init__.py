"""From cameras, or from boxes, to scene graphs."""
