"""Page of all committed results with their commands: `python -m eval.reproduce`."""
