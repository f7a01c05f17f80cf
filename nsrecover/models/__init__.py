"""The learned parts and the checkpoint that holds them."""
