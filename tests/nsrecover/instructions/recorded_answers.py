"""Typed answers of a language model to commands: wrong ones, with what they lose or add, and right ones."""

from __future__ import annotations

from typing import Any

Clauses = list[dict[str, Any]]
COLA = {"do": "bring", "what": "cola", "from": "fridge", "who": "me"}

ADVERSARIAL: tuple[tuple[str, Clauses], ...] = (
    ("under no circumstances go and fetch, my dear, the cola in the fridge", [COLA]),
    ("my throat begged for two cola out of the fridge", [COLA]),
    ("my throat begged for the cola or the milk in the fridge", [COLA]),
    ("my throat begged for the cola unless it is warm in the fridge", [COLA]),
    ("my throat begged for the cola, only later, in the fridge", [COLA]),
    ("my throat begged for every cola in the fridge", [COLA]),
    ("my throat begged for the biggest cola in the fridge", [COLA]),
    ("my throat begged for the red cola in the fridge", [COLA]),
    ("my throat begged for the cola in the fridge, and charlie wants the milk", [COLA]),
    ("my throat begged for anything except the cola in the fridge", [COLA]),
    ("my throat begged for the cola in the fridge next to the milk", [COLA]),
    ("the cola never begged to leave the fridge", [COLA]),
    ("if the fridge begs you, out with the cola", [COLA]),
    ("my throat begged for the second cola in the fridge", [COLA]),
    ("my throat begged for the cola instead of the milk in the fridge", [{**COLA, "what": "milk"}]),
    ("my throat begged for the cola in the fridge", [{**COLA, "what": "milk"}]),
    ("my throat begged for the cola in the fridge", [COLA, {"do": "open", "to": "microwave"}]),
    ("my throat begged for the cola in the fridge", [{**COLA, "who": "charlie"}]),
    ("my throat begged for the cola in the fridge", [{**COLA, "say": "the house burns"}]),
    ("my throat begged for the cola in the fridge", [{**COLA, "from": "fridge", "to": "sofa"}]),
)
"""Refused by coverage, or because they name what was not said."""

SHOWN: tuple[tuple[str, Clauses, str], ...] = (
    ("my throat begged for the cola in the fridge", [{"do": "put", "what": "cola", "to": "fridge"}], "put the cola"),
    ("my throat begged for the cola in the fridge", [{"do": "find", "what": "cola"}, {"do": "open", "to": "fridge"}],
     "find the cola"),
)  # fmt: skip
"""Nothing is lost and nothing added, and still wrong: the question shows it."""

RIGHT: tuple[tuple[str, Clauses, str], ...] = (
    ("my throat begged for the cola in the fridge", [COLA], "bring the cola from the fridge to you"),
    ("mother's tongue is longing: cola, fridge", [COLA], "cola from the fridge"),
    ("charlie's tongue begs the cola, says charlie", [{"do": "bring", "what": "cola", "who": "charlie"}], "to Charlie"),
    (
        "the milk yearns for the fridge",
        [{"do": "put", "what": "milk", "to": "fridge"}],
        "put the milk in the fridge",
    ),
    (
        "the banana yearns for the desk",
        [{"do": "put", "what": "banana", "to": "desk"}],
        "put the banana on the desk",
    ),
    ("the fridge yearns to breathe", [{"do": "open", "to": "fridge"}], "open the fridge"),
    ("the fridge begs for sleep", [{"do": "close", "to": "fridge"}], "close the fridge"),
    ("the kitchen begs for your wheels", [{"do": "go", "to": "kitchen"}], "go"),
    ("my longing seeks charlie", [{"do": "find", "who": "charlie"}], "Charlie"),
)
"""Sentences that the grammar does not read, and what is asked for agreement."""
