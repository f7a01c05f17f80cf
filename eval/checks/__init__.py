"""Tools that check the software itself."""
