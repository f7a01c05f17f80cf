"""English in: a lattice of lexical edges, one grammar, typed meanings.

`lattice` turns a sentence into edges: closed words from the grammar, open words from what is talked about (a log, a
home). `chart` finds every reading by the rules in `grammar.txt`. Builders (`goals`) turn readings into meanings.
"""
