"""The demo, evaluation and reports: everything that needs the library and the simulator together."""
