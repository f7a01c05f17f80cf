"""Readers of logs, one for each format: each turns a source into a `RawTrace`."""
