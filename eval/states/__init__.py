"""How well the states of household objects are read from images."""
