"""Durative actions of PDDL as actions without a duration, for plans that carry them out one after the other."""

from collections.abc import Iterator

from nsrecover.bridges.pddl.text import Form

_TIMES = (("at", "start"), ("over", "all"), ("at", "end"))


def in_sequence(action: Form) -> Form:
    """A durative action as an action that costs its duration.

    What has to hold at the start, all the time or at the end has to hold before, unless the start makes it true; what
    the start makes true and the end false is false afterwards.
    """
    parts = {str(key): part for key, part in zip(action[2::2], action[3::2], strict=False)}
    condition, effect = parts.get(":condition", _form(action)), parts.get(":effect", _form(action))
    if not isinstance(condition, Form) or not isinstance(effect, Form):
        raise action.wrong("brackets after :condition and :effect", "a name", "write (at start (…))")
    starts, ends = [[part for time, part in _timed(effect) if time == which] for which in ("start", "end")]
    made = {str(part) for part in starts}
    needs = [part for time, part in _timed(condition) if time == "start" or str(part) not in made]
    undone = {str(part.one()) for part in ends if part.head == "not"}
    kept = [part for part in starts if str(part) not in undone]
    again = {str(part) for part in ends}
    kept = [part for part in kept if part.head != "not" or str(part.one()) not in again]
    found = _form(action, ":action", action[1], ":parameters", parts.get(":parameters", _form(action)))
    found += [":precondition", _form(condition, "and", *needs)]
    found += [":effect", _form(effect, "and", *kept, *ends), ":duration", parts.get(":duration", _form(action))]
    for key in parts.keys() - {":parameters", ":condition", ":effect", ":duration"}:
        found += [key, parts[key]]
    return found


def while_it_runs(action: Form) -> Iterator[str]:
    """The predicates that a durative action makes true at its start and false at its end."""
    parts = {str(key): part for key, part in zip(action[2::2], action[3::2], strict=False)}
    effect = parts.get(":effect", _form(action))
    timed = list(_timed(effect)) if isinstance(effect, Form) else []
    ends = {str(part.one()) for time, part in timed if time == "end" and part.head == "not"}
    yield from (part.head for time, part in timed if time == "start" and str(part) in ends)


def duration(form: str | Form, action: Form) -> str | Form:
    """What a duration is equal to: a number or a function.

    Raises:
        InvalidConfiguration: it is between two bounds, or there is none.
    """
    if isinstance(form, Form) and ((form.head == "and" and len(form) == 2) or tuple(form[:2]) in _TIMES):
        return duration(form[-1], action)
    if not isinstance(form, Form) or form.head != "=" or len(form) != 3 or form[1] != "?duration":
        raise action.wrong("a duration such as (= ?duration 5)", str(form), "give it as a number or a function")
    return form[2]


def _form(at: Form, *parts: str | Form) -> Form:
    made = Form(at.source, at.at)
    made += parts
    return made


def _timed(form: Form) -> Iterator[tuple[str, Form]]:
    """The parts of a condition or effect of a durative action, with `start`, `all` or `end`."""
    if not form:
        return
    if tuple(form[:2]) in _TIMES and len(form) == 3 and isinstance(form[2], Form):
        time = str(form[1])
        if form[2].head == "and":
            yield from ((time, part) for part in form[2].forms)
        else:
            yield time, form[2]
    elif form.head == "and":
        for part in form.forms:
            yield from _timed(part)
    elif form.head == "forall" and len(form) == 3 and isinstance(form[2], Form):
        yield from ((time, _form(form, "forall", form[1], part)) for time, part in _timed(form[2]))
    elif form.head == "when" and len(form) == 3 and isinstance(form[1], Form) and isinstance(form[2], Form):
        needs = list(_timed(form[1]))
        if any(time != "start" for time, _ in needs):
            raise form.wrong("a condition at the start", str(form[1]), "split the action")
        condition = _form(form[1], "and", *(part for _, part in needs))
        yield from ((time, _form(form, "when", condition, part)) for time, part in _timed(form[2]))
    else:
        raise form.wrong("(at start …), (over all …) or (at end …)", str(form), "say when it holds")
