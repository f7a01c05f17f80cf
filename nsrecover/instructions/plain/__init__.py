"""Reader of plain commands: every word of a sentence is part of a clause, or the sentence is not read.

It shares nothing with the grammar but the words of the home. Nouns that no home knows are read, too: they name what a
detector is asked for. Where both readers understand a sentence differently, the person is asked.
"""
