"""One person answers the questions of many robots, in several orders: `python -m eval.questions`."""
