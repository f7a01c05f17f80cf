"""Sentences → tasks of a service robot, carried out with questions and corrections.

How it fits together, in the order in which a sentence passes:

1. `plain/` is the grammar: `words` has the words of a home and repairs misspelt ones, `parts` takes a
   clause apart, `nouns` reads noun phrases, `frames` gives the parts their roles, `speech` reads what is told, asked or
   counted, `reader` puts clauses together with wishes and statements. Every word has a role, or the answer
   names the words that have none. Verbs, prepositions and synonyms are tables in `plain/words.yaml`.
2. Clauses (`reading`) come out: a verb, noun phrases with typed constraints, content. This is the goal language; it
   can say what no skill serves.
3. `ordering` leaves out clauses that are only means to the next.
4. `goals` looks the clauses up in the home, `constraints` refuses by name what is not served; the result is a `Task`
   with stages, a `Question`, or a `Refusal` (`task`).
5. `choosing` compares the readings of a sentence with doubts, and those of the grammar and of the second reader
   (`model_reader`, a language model): one task is done, two different ones are a question.
6. `planning` finds actions for each stage, `agent` carries them out with the recovery agent over what is believed
   (`belief`, `seeing`), and reads the plan back before it moves.
7. `feedback` changes the clauses of a task by what a person says, within a sentence or afterwards.

`understanding.Understanding` is the entrance for sentences, `agent.ServiceAgent` for robots.
"""
