"""Logs as text and as data: format, words, goals."""
