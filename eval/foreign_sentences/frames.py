"""HuRIC's frames → what a command wants: the truth that readings are judged by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

Frame = Mapping[str, Any]

WORDS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
_PREPOSITIONS = WORDS["prepositions"]
_DETERMINED, _COUNTED, _PART = (re.compile(WORDS[name]) for name in ("determined", "counted", "parts"))
_CUT = re.compile(rf"\b(?:{_PREPOSITIONS})\b")


@dataclass(frozen=True)
class Wish:
    """One thing that a command wants done.

    Attributes:
        goal: hold, bring, put, find, go, follow, guide, on, off, open, closed; "none" if no skill does it.
        thing: words for the object, device or person, without article and what follows it.
        place: words for where it goes to or is looked for; empty without one.
        source: words for where it is; empty without one.
        person: words for who gets it; empty for the operator.
        limits: words that no skill takes into account, as they were said.
        verb: as it was said.
    """

    goal: str
    thing: str = ""
    place: str = ""
    source: str = ""
    person: str = ""
    limits: tuple[str, ...] = ()
    verb: str = ""


def wishes_of(frames: Sequence[Frame]) -> list[Wish]:
    """What the frames of a sentence want done, in order; empty if they only state something."""
    found, located = list[Wish](), list[tuple[str, str]]()
    for frame in frames:
        elements = {name: str(text) for name, text in frame["elements"].items()}
        if frame["frame"] == "Being_located":
            located.append((elements.get("Theme", ""), elements.get("Location", "")))
        elif frame["frame"] != "Being_in_category":
            before = next((each.thing or each.place for each in reversed(found) if each.thing or each.place), "")
            wish = _wish(frame["frame"], str(frame["verb"]), elements, before)
            counted = [each[0] for text in elements.values() if (each := _COUNTED.match(text))]
            last = found[-1] if found else None
            if last is not None and wish.goal == "find" and wish.thing == last.thing and last.goal in ("bring", "put"):
                found[-1] = replace(last, source=last.source or wish.place)  # "you can find it on the table"
                continue
            found.append(replace(wish, limits=(*wish.limits, *counted)))
    for theme, location in located:
        said = None if theme in WORDS["pronouns"] else noun_of(theme)
        fits = [k for k, each in enumerate(found) if each.thing and said in (None, each.thing)]
        if fits and not found[fits[-1]].source:
            found[fits[-1]] = replace(found[fits[-1]], source=noun_of(location))
        elif found and not fits:
            stated = [k for k, each in enumerate(found) if each.thing in WORDS["pronouns"]]
            for k in stated:
                found[k] = replace(found[k], thing=noun_of(theme), source=noun_of(location))
    return found


def noun_of(text: str) -> str:
    """The nouns of an element without its preposition, article and what follows: "on the red table in the hall"."""
    words = text.strip()
    led = re.match(rf"(?:{_PREPOSITIONS}) ", words)
    while led:
        words = words[led.end() :]
        led = re.match(rf"(?:{_PREPOSITIONS}) ", words)
    plain = re.sub(r"^(?:a (?:pack|lot) of|(?:a|the) (?:bottle|glass) of) ", "", words)
    cut = _CUT.search(plain)
    plain = plain[: cut.start()].strip() if cut and cut.start() else plain
    while led := _DETERMINED.match(plain):
        plain = plain[led.end() :]
    return plain


def _limits(elements: Mapping[str, str], goal: str) -> tuple[str, ...]:
    found = [elements[name] for name in WORDS["limits"] if elements.get(name)]
    path, said = elements.get("Path", ""), elements.get("Goal", "")
    if path and not re.search(r"door", path):
        found.append(path)
    part = _PART.search(said)
    near = part is not None and part[0] in ("near", "next to", "close to") and said.startswith(part[0])
    if part is not None and not (goal == "go" and near) and (near or part.start() < 12):
        found.append(said)
    return tuple(found)


def _wish(frame: str, verb: str, elements: Mapping[str, str], before: str) -> Wish:
    """What one frame wants."""
    thing = next((elements[name] for name in WORDS["themes"] if name in elements), "")
    noun = noun_of(thing)
    noun = before if noun in WORDS["pronouns"] and before else noun
    goal = elements.get("Goal", "")
    place, source = noun_of(goal) if goal else "", noun_of(elements.get("Source", ""))
    nested = re.search(r"\b(?:on|in|at|from) (.*)", re.sub(r"^(?:for|with|at) ", "", thing))
    source = source or (noun_of(nested[1]) if nested and frame not in ("Change_operational_state", "Closure") else "")
    whom = elements.get("Beneficiary", elements.get("Recipient", "me"))
    person = "" if noun_of(whom) in ("me", "us") else noun_of(whom)
    match frame:
        case "Motion" | "Arriving":
            limits = _limits(elements, "go")
            return Wish(
                "go" if goal else "none", place=place, limits=limits or ((verb,) if not goal else ()), verb=verb
            )
        case "Bringing" | "Giving" | "Placing" | "Releasing":
            area = elements.get("Area", "")
            if noun == "me":
                return Wish("guide", "me", place, verb=verb)
            if place in ("here", "") and goal not in ("out",):
                put = frame in ("Placing", "Releasing")
                return Wish("put" if put else "bring", noun, "", source, person, verb=verb)
            limits = _limits({**elements, "Area": ""} if area in ("over", "down") else elements, "put")
            return Wish("put", noun, place, source, person, tuple(filter(None, limits)), verb)
        case "Taking" | "Manipulation":
            return Wish("hold", noun, "", source, verb=verb)
        case "Locating":
            looked = noun_of(elements["Ground"]) if "Ground" in elements else source
            return Wish("find", noun, looked, verb=verb)
        case "Cotheme":
            said = re.search(r"\b(?:behind|in front of|with the)\b.*", thing)
            limits = (*_limits({k: v for k, v in elements.items() if k == "Manner"}, ""), *([said[0]] if said else []))
            return Wish("follow", noun, place, limits=limits, verb=verb)
        case "Change_operational_state":
            off = elements.get("Operational_state", "") == "off" or verb in ("stop", "deactivate")
            goal_of = "open" if verb == "open" else "off" if off else "on"
            return Wish(goal_of, noun, verb=verb)
        case "Closure":
            limits = _limits(elements, "")
            state = "closed" if verb in ("close", "shut", "lower") or "down" in " ".join(limits) else "open"
            return Wish(state, noun, limits=limits, verb=verb)
        case "Inspecting" if thing.startswith("there "):
            return Wish("find", noun_of(re.sub(r"there (?:'s|is|are) ", "", thing)), source, verb=verb)
        case _:
            return Wish("none", noun, limits=(verb,), verb=verb)
