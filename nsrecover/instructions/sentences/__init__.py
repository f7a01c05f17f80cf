"""Sentences to readings: words, phrases, clauses."""
