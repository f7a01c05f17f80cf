"""How well sounds are recognised, and unknown ones called unknown."""
