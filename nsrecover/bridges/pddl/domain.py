"""Domains that are read from PDDL, with a table of words."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from nsrecover.bridges.pddl.durative import duration, in_sequence, while_it_runs
from nsrecover.bridges.pddl.formulas import NO_SCOPE, OBJECT, Names, Type, refused, typed
from nsrecover.bridges.pddl.text import MOST_NESTED, Form, checked_name, read
from nsrecover.domains import base
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.errors import InvalidConfiguration, did_you_mean, require_known
from nsrecover.util.untrusted_json import read_json

WordTable = Mapping[str, str | Mapping[str, str]]
"""Operator or predicate -> its instruction or clause, or several forms of it by the names of `Words`."""

_DECLARATIONS = (":requirements", ":types", ":constants", ":predicates", ":functions")


def domain_from_pddl(
    domain: str | Path,
    words: WordTable | str | Path | None = None,
    roles: Mapping[str, Role] | None = None,
    in_sequence: bool = False,
    problem: str | Path | None = None,
) -> Domain:
    """A domain from PDDL.

    Types become kinds, and traits of their objects. Predicates of one object become state variables, others relations;
    relations between objects that no action changes are static. Derived predicates, conditional and universal effects,
    quantifiers, disjunctions, negation and action costs are read; other numbers and durations are refused. Names are
    in lower case.

    Args:
        domain: file, or the text itself.
        words: how to say operators (parameters in braces) and predicates ({0}, {1}); a table, or a JSON file with one.
        roles: predicate -> its role as a relation, such as `{"on": Role.LOCATION, "holding": Role.HELD}`.
        in_sequence: read durative actions as actions that run one after the other and cost their duration.
        problem: of a domain that uses objects which its problems declare.

    Raises:
        InvalidConfiguration: the text is not PDDL of this kind, or a word or role is for nothing.
    """
    form = read(domain, "domain")
    reader = DomainReader(form, in_sequence, None if problem is None else read(problem, "problem"))
    said, given = _words(words or {}), {name.lower(): role for name, role in (roles or {}).items()}
    for what, names, known in (
        ("words for an action or a predicate", said, (*reader.operators, *reader.names.predicates)),
        ("roles of predicates", given, tuple(reader.names.predicates)),
    ):
        for name in names:
            require_known(name, known, what)
    return reader.domain(form, said, given)


class DomainReader:
    """What a domain declares.

    Args:
        form: the domain.
        sequential: whether durative actions are read as actions that run one after the other.
        problem: with objects that the domain may use, too.

    Attributes:
        names: types, predicates, functions and constants.
        operators: actions by name, without words.
        derived: derived predicates by name.
    """

    def __init__(self, form: Form, sequential: bool, problem: Form | None = None) -> None:
        self.names, self._sequential = Names(), sequential
        self.operators: dict[str, base.Operator] = {}
        self.derived: dict[str, base.Derived] = {}
        sections = list(form.forms)[1:]
        for name in _DECLARATIONS[1:]:  # in any order
            for section in sections:
                if section.head == name:
                    getattr(self, f"_{name[1:]}")(section)
        for section in () if problem is None else list(problem.forms)[1:]:
            if section.head == ":objects":
                self._constants(section)
        rules = [section for section in sections if section.head == ":derived"]
        self.names.derived |= {
            section[1].head for section in rules if len(section) > 1 and isinstance(section[1], Form)
        }
        for rule in rules:
            self._rule(rule)
        meanwhile: dict[str, Form] = {}
        for section in sections:
            if section.head == ":action":
                self._action(section)
            elif section.head == ":durative-action" and sequential:
                self._action(in_sequence(section))
                meanwhile |= dict.fromkeys(while_it_runs(section), section)
            elif section.head == ":durative-action":
                raise section.wrong(
                    "actions without durations", "a :durative-action",
                    "with in_sequence=True they are read as actions that run one after the other",
                )  # fmt: skip
            elif section.head not in (*_DECLARATIONS, ":derived"):
                raise refused(section)
        self._check_sequence(meanwhile)

    def _check_sequence(self, meanwhile: Mapping[str, Form]) -> None:
        """Refuse actions that have to run at the same time as another one, which alone makes true what they need."""
        added = {fact[0] for each in self.operators.values() for effect in each.effects for fact in effect.adds}
        for name, section in meanwhile.items():
            for each in self.operators.values():
                needs = {part.predicate for part in each.preconditions if isinstance(part, base.Atom)}
                if name in needs - added:
                    raise section.wrong(
                        "actions that can run one after the other",
                        f"{each.name}, which needs {name} and overlaps {section[1]}: only while this runs it holds",
                        "join the two in one action",
                    )

    # -- declarations

    def _types(self, section: Form) -> None:
        above: dict[str, set[str]] = {}
        for name, kind in typed(section, 1):
            above.setdefault(checked_name(str(name), section), set()).update(kind)
            for parent in kind:
                above.setdefault(parent, set())
        above.setdefault(OBJECT, set())
        for name in above:
            found, waiting = {OBJECT}, [name]
            while waiting:
                each = waiting.pop()
                if each not in found or each == name == OBJECT:
                    found.add(each)
                    if len(found) > MOST_NESTED:
                        raise section.wrong(f"at most {MOST_NESTED} types above one", f"more above {name}", "cut some")
                    waiting += above[each] - found
            self.names.types[name] = frozenset(found)
        for name, found_types in self.names.types.items():
            circle = next((each for each in found_types - {name, OBJECT} if name in self.names.types.get(each, ())), "")
            if circle and name != OBJECT:
                raise section.wrong("types without a circle", f"{name} and {circle}", "take one out")

    def _constants(self, section: Form) -> None:
        names = self.names
        for name, kind in typed(section, 1):
            if not isinstance(name, str):
                raise name.wrong("names of objects", str(name), "leave out the brackets")
            if name.startswith("?"):
                raise section.wrong("names of objects", repr(name), "only variables begin with ?")
            names.checked_type(kind, section)
            known = names.objects.setdefault(checked_name(name, section), kind)
            if known != kind:
                raise section.wrong(
                    f"one type of {name}", f"{names.trait(known)} and {names.trait(kind)}", "rename one"
                )

    def _predicates(self, section: Form) -> None:
        self._declare(section, self.names.predicates, list(section.forms))

    def _functions(self, section: Form) -> None:
        for part, kind in typed(section, 1):
            if not isinstance(part, Form):
                raise section.wrong("functions in brackets", repr(part), f"write ({part})")
            if kind not in ({"number"}, {OBJECT}):
                raise part.wrong("functions that are numbers", f"{part}, a {sorted(kind)[0]}", "use a predicate")
            self._declare(section, self.names.functions, [part])

    def _declare(self, section: Form, declared: dict[str, tuple[Type, ...]], parts: Iterable[Form]) -> None:
        for part in parts:
            if part.head == "=":
                continue
            name = checked_name(part.head, part)
            kinds = []
            for variable, kind in typed(part, 1):  # a name may be used twice: places count
                if not isinstance(variable, str) or not variable.startswith("?"):
                    raise part.wrong("variables, which begin with ?", repr(str(variable)), "write ?x - type")
                kinds.append(self.names.checked_type(kind, part))
            if len(declared.setdefault(name, tuple(kinds))) != len(kinds):
                raise part.wrong(f"one declaration of {name}", f"another with {len(kinds)} terms", "rename one")
            declared[name] = tuple(a | b for a, b in zip(declared[name], kinds, strict=True))
            for kind in declared[name]:
                self.names.checked_type(kind, part)

    # -- what follows, and what is done

    def _rule(self, section: Form) -> None:
        if len(section) != 3 or not isinstance(section[1], Form) or not isinstance(section[2], Form):
            raise section.wrong("(:derived (predicate variables) (condition))", str(section), "add the missing part")
        head, body = section[1], section[2]
        name = head.head
        if name not in self.names.predicates:
            raise head.wrong(
                "a declared predicate", repr(name), f"declare it.{did_you_mean(name, self.names.predicates)}"
            )
        own, scope = self.names.variables(head, 1, NO_SCOPE)
        self.names.arguments(_plain(head, [each.variable for each in own]), scope, self.names.predicates, "predicate")
        places = {each.variable: f"?{place}" for place, each in enumerate(own)}
        limits = tuple(base.Has(places[each.variable], each.trait) for each in own if each.trait != OBJECT)
        parts = (*limits, base.bound(self.names.formula(body, scope), places))
        rule = parts[0] if len(parts) == 1 else base.And(parts)
        known = self.derived.get(name)
        self.derived[name] = base.Derived(
            name, tuple(places.values()), rule if known is None else base.Or((known.definition, rule))
        )

    def _action(self, section: Form) -> None:
        if len(section) < 2 or not isinstance(section[1], str) or len(section) % 2:
            raise section.wrong("an action with a name and pairs such as :effect (…)", str(section)[:60], "complete it")
        name = checked_name(section[1], section)
        if name in self.operators:
            raise section.wrong("different names of actions", f"{name} twice", "rename one")
        parts: dict[str, Form] = {}
        for key, part in zip(section[2::2], section[3::2], strict=True):
            if not isinstance(key, str) or not isinstance(part, Form) or key in parts:
                raise section.wrong(f"pairs such as :effect (…) in {name}", str(key), "write each of them once")
            if key not in (":parameters", ":precondition", ":effect") and not (key == ":duration" and self._sequential):
                raise refused(part if key.startswith(":") else section, key)
            parts[key] = part
        empty = Form(section.source, section.at)
        own, scope = self.names.variables(parts.get(":parameters", empty), 0, NO_SCOPE)
        needed = self.names.formula(parts.get(":precondition", empty), scope)
        effects = self.names.effects(parts.get(":effect", empty), scope)
        cost, prices = self.names.prices(parts.get(":effect", empty), scope)
        if ":duration" in parts:
            cost, prices = self.names.amount(duration(parts[":duration"], section), section, scope)
        self.operators[name] = base.Operator(
            name, own, needed.parts if isinstance(needed, base.And) else (needed,), effects, cost, prices=prices,
            repeats=True,
        )  # fmt: skip

    # -- the domain

    def domain(self, form: Form, words: Mapping[str, base.Words], roles: Mapping[str, Role]) -> Domain:
        """The domain, with words and roles for its names."""
        names, operators = self.names, {}
        changed = {
            fact[0]
            for each in self.operators.values()
            for effect in each.effects
            for fact in (*effect.adds, *effect.deletes)
        }
        costly = names.cost or any(each.cost or each.prices for each in self.operators.values())
        for name, operator in self.operators.items():
            if not costly:
                operator = replace(operator, cost=1.0)
            elif not operator.cost and not operator.prices:
                operator = replace(operator, prices=(base.Price(names.cost, (), {(): 0.0}),))
            operators[name] = replace(operator, words=words.get(name, base.Words())) if name in words else operator
        basic = {name: kinds for name, kinds in names.predicates.items() if name not in names.derived}
        title = form[1]
        assert isinstance(title, Form)
        return Domain(
            str(title[1]),
            kinds={name: base.Kind(name, names.traits(Type({name}))) for name in names.types},
            variables={
                name: base.StateVariable(name, (f"not {name}", name), names.trait(kinds[0]))
                for name, kinds in basic.items()
                if len(kinds) == 1 and name not in roles
            },
            relations={
                name: Role.STATIC if kinds and name not in changed else Role.PLAIN
                for name, kinds in basic.items()
                if len(kinds) != 1
            }
            | dict(roles),
            operators=operators,
            derived=self.derived,
            words={name: said for name, said in words.items() if name not in operators},
        )


def _plain(form: Form, terms: Iterable[str] = ()) -> Form:
    made = Form(form.source, form.at)
    made += [form.head, *terms]
    return made


def _words(given: WordTable | str | Path) -> dict[str, base.Words]:
    try:
        table = given if isinstance(given, Mapping) else read_json(given)
        return {
            name.lower(): base.Words(said) if isinstance(said, str) else base.Words(**said)
            for name, said in table.items()
        }
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise InvalidConfiguration(
            "expected words as a table, or a JSON file with one: operator or predicate -> text, or texts by the names "
            f"of nsrecover.domains.base.Words; found: {problem}"
        ) from problem
