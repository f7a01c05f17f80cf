"""Every number that the README and the pages print: measured by one command, with where it comes from beside it."""
