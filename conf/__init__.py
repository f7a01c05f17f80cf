"""Settings of all commands (Hydra), and the code that turns a command line into them."""
