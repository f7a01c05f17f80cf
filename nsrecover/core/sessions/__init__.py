"""What sessions, their drivers and people say to each other."""
