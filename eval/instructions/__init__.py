"""Instructions: generated commands and paraphrases understood, and episodes with the three kinds of recovery."""
