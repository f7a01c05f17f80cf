"""Sentences → tasks of a service robot, carried out with questions and corrections.

How it fits together, in the order in which a sentence passes:

1. `plain/` reads plain commands: `parts` takes a clause apart, `nouns` reads noun phrases, `frames` gives the parts
   their roles, `reader` puts clauses together. A word without a role ends the reading.
2. `sentences/` is the grammar of everything else: statements, wishes, stories, questions, gestures. `gate` looks for
   words that it left out.
3. Both give clauses (`sentences/reading.py`): a verb, noun phrases with typed constraints, content. This is the goal
   language; it can say what no skill serves.
4. `goals` looks the clauses up in the home, `constraints` refuses by name what is not served; the result is a `Task`
   with stages, a `Question`, or a `Refusal` (`task`).
5. `choosing` compares the readings: one task is done, two different ones are a question.
6. `planning` finds actions for each stage, `agent` carries them out with the recovery agent over what is believed
   (`belief`, `seeing`), and reads the plan back before it moves.
7. `feedback` changes the clauses of a task by what a person says, within a sentence or afterwards.

`understanding.Understanding` is the entrance for sentences, `agent.ServiceAgent` for robots.
"""
