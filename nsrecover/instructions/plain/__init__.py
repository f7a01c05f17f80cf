"""Reader of commands: every word of a sentence is part of a clause or declared harmless, or the sentence is not read.

Nouns that no home knows are read, too: they name what a detector is asked for.
"""
