"""What is understood of commands that other people wrote, judged by their own annotations."""
