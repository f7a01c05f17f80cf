"""Sentences → tasks of a service robot, carried out with questions and corrections.

How it fits together, in the order in which a sentence passes:

1. `nsrecover.language` reads: a lattice of lexical edges, one grammar, clauses with all that is said. This is the goal
   language; it can say what no skill serves.
2. `ordering` leaves out clauses that are only means to the next.
3. `goals` looks the clauses up in the home, `constraints` refuses by name what is not served; the result is a `Task`
   with stages, a `Question`, or a `Refusal` (`task`).
4. `choosing` compares the tasks that the readings of a sentence, and those of the second reader (`model_reader`, a
   language model), lead to: one task is done, two different ones are a question.
5. `planning` finds actions for each stage, `agent` carries them out with the recovery agent over what is believed
   (`belief`, `seeing`), and reads the plan back before it moves.
6. `feedback` changes the clauses of a task by what a person says, within a sentence or afterwards.

`understanding.Understanding` is the entrance for sentences, `agent.ServiceAgent` for robots.
"""
