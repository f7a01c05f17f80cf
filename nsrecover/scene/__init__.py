"""Geometry and bookkeeping on scene graphs; nothing here is learned."""
