"""Scenes, initial states and goals that are read from PDDL problems."""

from collections.abc import Iterator
from dataclasses import replace
from operator import add, mul, sub, truediv
from pathlib import Path

from nsrecover.bridges.pddl.domain import DomainReader
from nsrecover.bridges.pddl.formulas import NO_SCOPE, Names, number, refused, variables_of
from nsrecover.bridges.pddl.text import Form, read
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance

MOST_ROWS = 1_000_000
"""Largest number of pairs of values that are combined."""

Values = dict[str, dict[tuple[str, ...], float]]
"""Function -> objects -> number."""


def scene_from_pddl(
    domain: Domain, domain_source: str | Path, problem: str | Path
) -> tuple[Instance, base.State, tuple[StateFact, ...]]:
    """The scene, the initial state and the goal of a PDDL problem.

    What the goal has besides facts becomes derived predicates of the scene's domain: `not-open` for `(not (open ?x))`.
    Costs are those of the metric. Without one they count if the problem has the numbers for them, else every action
    costs 1.

    Args:
        domain: from `domain_from_pddl`.
        domain_source: the PDDL that it is from.
        problem: file, or the text itself.

    Raises:
        InvalidConfiguration: the text is not PDDL of this kind.
    """
    form = read(problem, "problem")
    names = DomainReader(read(domain_source, "domain"), True, form).names
    sections = {section.head: section for section in list(form.forms)[1:]}
    for head, section in sections.items():
        if head not in (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"):
            raise refused(section)
    for needed in (":init", ":goal"):
        if needed not in sections:
            raise form.wrong(f"({needed} …)", "none", "add it")
    facts, values = _initial(names, sections[":init"])
    static = frozenset(fact for fact in facts if domain.relations.get(fact[0]) is Role.STATIC)
    goal, derived = list[StateFact](), dict(domain.derived)
    for part in _conjuncts(names.formula(sections[":goal"].one(), NO_SCOPE)):
        fact, rule = _condition(part, derived, domain)
        goal.append(fact)
        if rule is not None:
            derived[rule.predicate] = rule
    operators = _priced(domain, names, sections.get(":metric"), values, sections[":init"])
    objects = {name: names.traits(kind) for name, kind in names.objects.items()}
    scene = Instance(replace(domain, derived=derived, operators=operators), objects, static)
    return scene, facts - static, tuple(goal)


def _initial(names: Names, section: Form) -> tuple[base.State, Values]:
    """The facts that hold at the start, and the values of functions."""
    facts, absent, values = set[StateFact](), dict[StateFact, Form](), Values()
    for part in section.forms:
        if part.head == "=" and len(part) == 3 and isinstance(part[1], Form):
            name, *terms = names.arguments(part[1], NO_SCOPE, names.functions, "function")
            table = values.setdefault(name, {})
            if table.setdefault(tuple(terms), value := _value(part[2], part)) != value:
                raise part.wrong(f"one value of {part[1]}", "two", "take one out")
        elif part.head == "at" and len(part) == 3 and _is_number(part[1]):
            raise part.wrong("facts that hold at the start", f"a timed one {part}", "leave it out of the model")
        elif part.head == "not":
            absent[names.arguments(part.one(), NO_SCOPE, names.predicates, "predicate")] = part
        else:
            fact = names.arguments(part, NO_SCOPE, names.predicates, "predicate")
            if fact[0] in names.derived:
                raise part.wrong("facts that follow from nothing", f"{fact[0]}, which is derived", "take it out")
            facts.add(fact)
    for fact, part in absent.items():
        if fact in facts:
            raise part.wrong("a fact or its negation", f"both of {fact[0]}", "take one out")
    return frozenset(facts), values


def _is_number(text: str | Form) -> bool:
    return isinstance(text, str) and text.replace(".", "", 1).isdigit()


def _value(text: str | Form, form: Form) -> float:
    """A number, which matters only if it is a cost."""
    try:
        return float(str(text))
    except ValueError:
        raise form.wrong("a number", str(text), "objects as values are not read") from None


def _conjuncts(formula: base.Formula) -> Iterator[base.Formula]:
    if isinstance(formula, base.And):
        for part in formula.parts:
            yield from _conjuncts(part)
    else:
        yield formula


def _condition(
    formula: base.Formula, derived: dict[str, base.Derived], domain: Domain
) -> tuple[StateFact, base.Derived | None]:
    """A part of a goal as a fact, and the derived predicate that it needs."""
    match formula:
        case base.Atom(predicate, terms):
            return (predicate, *terms), None
        case base.Not(base.Atom(predicate, terms)):
            variables = tuple(f"?{i}" for i in range(len(terms)))
            name, part = f"not-{predicate}", base.absent(predicate, *variables)
            while name in domain.predicates:
                name += "-"
            return (name, *terms), base.Derived(name, variables, part)
    name = f"goal-{len(derived)}"
    while name in domain.predicates:
        name += "-"
    return (name,), base.Derived(name, (), formula)


def _priced(
    domain: Domain, names: Names, metric: Form | None, values: Values, initial: Form
) -> dict[str, base.Operator]:
    """The operators with the costs of a problem."""
    asked = _minimised(metric)
    for text, form in names.computed.items():
        rows = _computed(form, values)
        if rows:
            values[text] = {tuple(bound[name] for name in variables_of(form)): value for bound, value in rows}
        elif asked == names.cost and metric is not None:
            why = "none (it divides by 0, or a function in it has no value)"
            raise form.wrong(f"values of {text}, which actions cost", why, "give numbers in :init")
    used = {price.name for each in domain.operators.values() for price in each.prices if not price.values}
    for name in sorted(used):
        if name not in values and asked == names.cost and metric is not None:
            raise initial.wrong(f"values of {name}, which actions cost", "none", f"write (= ({name} …) 1)")
        number(str(min(values.get(name, {(): 0.0}).values())), initial)
    if (metric is not None and asked != (names.cost or "total-time")) or not used <= values.keys():
        return {name: replace(each, cost=1.0, prices=()) for name, each in domain.operators.items()}
    filled = {
        each: tuple(price if price.values else replace(price, values=values[price.name]) for price in operator.prices)
        for each, operator in domain.operators.items()
    }
    return {name: replace(each, prices=filled[name]) for name, each in domain.operators.items()}


def _computed(part: str | Form, values: Values) -> list[tuple[dict[str, str], float]]:
    """Objects of the variables of a sum, product, quotient or difference, and its value."""
    if isinstance(part, str):
        return [({}, float(part))]
    if part.head not in _ARITHMETIC:
        terms, table = part.words(1), values.get(part.head, {})
        tables = [(dict(zip(terms, objects, strict=True)), value) for objects, value in table.items()]
        return [
            ({term: each for term, each in bound.items() if term.startswith("?")}, value)
            for bound, value in tables
            if all(term.startswith("?") or term == each for term, each in bound.items())
        ]
    found = _computed(part[1], values) if len(part) > 1 else []
    for other in (_computed(each, values) for each in part[2:]):
        if len(found) * len(other) > MOST_ROWS:
            raise part.wrong(f"at most {MOST_ROWS} values", f"more of {part}", "write the result as a function")
        found = [
            ({**bound, **more}, _ARITHMETIC[part.head](one, value))
            for bound, one in found
            for more, value in other
            if all(bound.get(name, each) == each for name, each in more.items()) and (part.head != "/" or value)
        ]
    return found


_ARITHMETIC = {"+": add, "*": mul, "/": truediv, "-": sub}


def _minimised(metric: Form | None) -> str:
    """The function that a metric minimises."""
    if metric is None:
        return ""
    if len(metric) != 3 or metric[1] != "minimize":
        raise metric.wrong("(:metric minimize …)", str(metric), "costs are minimised")
    what = metric[2]
    if isinstance(what, Form) and len(what) != 1:
        raise metric.wrong("one function to minimise", f"numbers {what}", "costs are added to one function")
    return what.head if isinstance(what, Form) else what
