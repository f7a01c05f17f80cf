"""The processes that work on reports, and the turns of clients at them."""
