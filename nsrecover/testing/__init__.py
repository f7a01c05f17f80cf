"""The conformance kit: checks that a simulator or a robot behaves as nsrecover expects of a world.

```python
from nsrecover.testing import check_world

print(check_world(make_world))  # one line per rule; WorldNotConforming names the first broken rule
```
"""

from nsrecover.errors import WorldNotConforming
from nsrecover.testing.kit import check_world
from nsrecover.testing.rules import Check, CheckStatus, ConformanceReport, Rule, Tolerances
from nsrecover.util.factories import load_factory

__all__ = [
    "Check",
    "CheckStatus",
    "ConformanceReport",
    "Rule",
    "Tolerances",
    "WorldNotConforming",
    "check_world",
    "load_factory",
]
