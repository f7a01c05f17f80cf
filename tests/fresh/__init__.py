"""Installations from nothing."""
