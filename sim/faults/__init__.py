"""Things that go wrong, injected physically: the hooks (`base`) and the concrete faults."""
