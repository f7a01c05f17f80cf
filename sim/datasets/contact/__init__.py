"""Dataset XI: single actions whose outcome is a distribution, as data and drawn from numbers."""
