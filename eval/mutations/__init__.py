"""Hand-made bugs, and whether the tests of their package notice them."""
