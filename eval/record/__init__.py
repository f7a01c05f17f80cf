"""Recording a scenario: `python -m eval.record`."""
