"""Formulas and effects of PDDL in the language of domains; what has no counterpart there is refused by its name."""

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from nsrecover.bridges.pddl.text import Form, checked_name
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.errors import InvalidConfiguration, did_you_mean

Type = frozenset[str]
"""The types of which an object has to have one; several are `(either …)`."""

Scope = Mapping[str, tuple[str, Type]]
"""Variable -> its name in the domain, and its type."""

OBJECT = "object"
ANY = Type({OBJECT})
NO_SCOPE: Scope = {}

MOST_VARIABLES = 100
"""Largest accepted number of variables of an action, a rule or a quantifier."""

REFUSED = {
    "numbers": ("assign", "increase", "decrease", "scale-up", "scale-down", "<", ">", "<=", ">=", "+", "*", "/"),
    "nondeterministic effects": ("oneof", "probabilistic", "unknown", "observe", ":observe", ":sense"),
    "durations": (":durative-action", ":duration", "at-start", "at-end", "over-all"),
    "continuous change": (":process", ":event"),
    "preferences and trajectory constraints": (
        "preference", ":constraints", "always", "sometime", "within", "at-most-once", "sometime-after",
        "sometime-before", "always-within", "hold-during", "hold-after", "is-violated",
    ),
    "hierarchical tasks": (":method", ":task", ":htn", ":tasks"),
    "old forms of PDDL": (":vars", ":axiom", ":extends", ":situation", ":timeless", ":safety", ":context"),
    "belief states": ("or", "not-known", ":uncertainty"),
}  # fmt: skip
"""What is refused, and the words by which it is known."""


def refused(form: Form, word: str = "") -> InvalidConfiguration:
    """The error for a construct that is not read, by its name if it is known."""
    word = word or form.head or str(form)
    what = next((f"{what} ({word})" for what, words in REFUSED.items() if word in words), repr(word))
    return form.wrong("facts, costs and what follows from facts", what, "leave it out of the model")


def typed(form: Form, start: int) -> Iterator[tuple[str | Form, Type]]:
    """The parts of a list such as `?a ?b - box ?c`, with their types."""
    waiting: list[str | Form] = []
    parts = iter(form[start:])
    for part in parts:
        if isinstance(part, Form) or not part.startswith("-"):
            waiting.append(part)
            continue
        kind = part[1:] or next(parts, None)  # `?x -box` is often written without the blank
        if kind is None:
            raise form.wrong("a type after '-'", "none", "write ?x - box")
        yield from ((name, _alternatives(kind, form)) for name in waiting)
        waiting = []
    yield from ((name, ANY) for name in waiting)


def _alternatives(kind: str | Form, form: Form) -> Type:
    if isinstance(kind, str):
        return Type({kind})
    if kind.head != "either" or len(kind) < 2:
        raise kind.wrong("a type, or (either …)", str(kind), "name a type")
    return Type(kind.words(1))


@dataclass
class Names:
    """What a domain and a problem declare.

    Attributes:
        types: type -> itself and what it is a part of.
        predicates: predicate -> types of its terms.
        functions: function -> types of its terms; those that are numbers.
        objects: constants and objects, with their types.
        derived: predicates that follow from others.
        alternatives: types with several alternatives that are in use.
        computed: products, quotients and differences of functions and numbers that actions cost, by their text.
        cost: the function that costs are added to; empty if there is none.
    """

    types: dict[str, frozenset[str]] = field(default_factory=lambda: {OBJECT: Type({OBJECT})})
    predicates: dict[str, tuple[Type, ...]] = field(default_factory=dict)
    functions: dict[str, tuple[Type, ...]] = field(default_factory=dict)
    objects: dict[str, Type] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    alternatives: set[Type] = field(default_factory=set)
    computed: dict[str, Form] = field(default_factory=dict)
    cost: str = ""

    # -- names

    def checked_type(self, kind: Type, form: Form) -> Type:
        """A type that is declared."""
        for name in kind:
            if name not in self.types:
                fix = f"declare it in :types.{did_you_mean(name, self.types)}"
                raise form.wrong("a declared type", repr(name), fix)
        if len(kind) > 1:
            self.alternatives.add(kind)
        return kind

    def trait(self, kind: Type) -> str:
        """The trait that objects of a type have."""
        return " or ".join(sorted(kind))

    def traits(self, kind: Type) -> frozenset[str]:
        """All traits of objects that are declared with a type."""
        found = frozenset[str]().union(*(self.types[name] for name in kind))
        return found | {self.trait(several) for several in self.alternatives if several & found}

    def _related(self, one: Type, other: Type) -> bool:
        """Whether an object can have both types."""
        return any(a in self.types[b] or b in self.types[a] for a in one for b in other)

    def variables(self, form: Form, start: int, scope: Scope) -> tuple[tuple[base.Parameter, ...], Scope]:
        """The variables of a list, and the scope with them; those that hide others get another name."""
        own, inner, taken = list[base.Parameter](), dict(scope), {said for said, _ in scope.values()}
        for name, kind in typed(form, start):
            if len(own) >= MOST_VARIABLES:
                raise form.wrong(f"at most {MOST_VARIABLES} variables", "more", "split the action")
            if not isinstance(name, str) or not name.startswith("?") or len(name) < 2:
                raise form.wrong("variables, which begin with ?", repr(str(name)), "write ?x - type")
            checked_name(name[1:], form)
            if name in inner and inner[name] is not scope.get(name):
                raise form.wrong("different variables", f"{name} twice", "rename one")
            said = name
            while said in taken:
                said += "_"
            inner[name] = said, self.checked_type(kind, form)
            own.append(base.Parameter(said, self.trait(kind)))
        return tuple(own), inner

    def arguments(self, form: Form, scope: Scope, declared: Mapping[str, tuple[Type, ...]], what: str) -> StateFact:
        """A predicate or function with its terms, checked against its declaration."""
        head = form.head
        if head not in declared:
            if any(head in words for words in REFUSED.values()):
                raise refused(form)
            raise form.wrong(f"a declared {what}", repr(head), f"declare it.{did_you_mean(head, declared)}")
        terms, types = form.words(1), declared[head]
        if len(types) != len(terms):
            raise form.wrong(f"{len(types)} terms of {head}", str(form), "as it is declared")
        return (head, *(self.term(t, scope, form, kind) for t, kind in zip(terms, types, strict=True)))

    def term(self, term: str, scope: Scope, form: Form, kind: Type = ANY) -> str:
        """A variable or object, which has to fit a type."""
        known: Collection[str] = scope if term.startswith("?") else self.objects
        if term not in known:
            what = "a variable in scope" if term.startswith("?") else "a declared object"
            fix = "" if term.startswith("?") or known else " If problems declare it, give one as problem=."
            raise form.wrong(what, repr(term), f"declare it.{did_you_mean(term, known)}{fix}")
        said, own = scope[term] if term.startswith("?") else (term, self.objects[term])
        if kind is not ANY and not self._related(own, kind):
            error = form.wrong(f"{self.trait(kind)!r} in {form}", f"{term}, a {self.trait(own)!r}", "change its type")
            if not term.startswith("?"):
                raise error
            warnings.warn(f"{error}; until then it never holds", stacklevel=2)
        return said

    # -- formulas

    def formula(self, form: Form, scope: Scope) -> base.Formula:
        """A condition."""
        if not form:
            return base.And(())
        match form.head:
            case "and" | "or":
                parts = tuple(self.formula(part, scope) for part in form.forms)
                return (base.And if form.head == "and" else base.Or)(parts)
            case "not":
                return base.Not(self.formula(form.one(), scope))
            case "imply":
                parts = tuple(self.formula(part, scope) for part in form.forms)
                if len(parts) != 2:
                    raise form.wrong("two parts of (imply …)", str(len(parts)), "join several with (and …)")
                return base.Or((base.Not(parts[0]), parts[1]))
            case "exists" | "forall":
                variables, part = self._quantified(form)
                own, inner = self.variables(variables, 0, scope)
                found = self.formula(part, inner)
                for each in reversed(own):
                    kind = base.Exists if form.head == "exists" else base.ForAll
                    found = kind(each.variable, found, each.trait)
                return found
            case "=" if len(form) == 3 and not any(isinstance(term, Form) for term in form):
                one, other = form.words(1)
                return base.Same(self.term(one, scope, form), self.term(other, scope, form))
            case "=":
                raise form.wrong("facts and costs", f"numbers {form}", "leave it out of the model")
        name, *terms = self.arguments(form, scope, self.predicates, "predicate")
        return base.Atom(name, tuple(terms))

    @staticmethod
    def _quantified(form: Form) -> tuple[Form, Form]:
        if len(form) != 3 or not isinstance(form[1], Form) or not isinstance(form[2], Form):
            raise form.wrong(f"({form.head} (variables) (what))", str(form), "add the missing part")
        return form[1], form[2]

    # -- effects

    def effects(self, form: Form, scope: Scope) -> tuple[base.Effect, ...]:
        """What an action changes, without costs."""
        found: dict[tuple[base.Formula, tuple[base.Parameter, ...]], tuple[list[StateFact], list[StateFact]]] = {}
        for fact, positive, when, each in self._changes(form, scope, base.And(()), ()):
            adds, deletes = found.setdefault((when, each), ([], []))
            (adds if positive else deletes).append(fact)
        return tuple(
            base.Effect(tuple(dict.fromkeys(adds)), tuple(dict.fromkeys(deletes)), when, each)
            for (when, each), (adds, deletes) in found.items()
        )

    def _changes(
        self, form: Form, scope: Scope, when: base.Formula, each: tuple[base.Parameter, ...]
    ) -> Iterator[tuple[StateFact, bool, base.Formula, tuple[base.Parameter, ...]]]:
        if not form:
            return
        match form.head:
            case "and":
                for part in form.forms:
                    yield from self._changes(part, scope, when, each)
            case "forall":
                variables, part = self._quantified(form)
                own, inner = self.variables(variables, 0, scope)
                yield from self._changes(part, inner, when, each + own)
            case "when":
                if len(form) != 3:
                    raise form.wrong("(when (condition) (effect))", str(form), "add the missing part")
                condition, part = form.forms
                needed = self.formula(condition, scope)
                both = needed if when == base.And(()) else base.And((when, needed))
                yield from self._changes(part, scope, both, each)
            case "increase" if self._is_cost(form):
                if when != base.And(()) or each:
                    raise form.wrong("a cost of the whole action", f"a conditional one {form}", "split the action")
            case head:
                inner_form = form.one() if head == "not" else form
                fact = self.arguments(inner_form, scope, self.predicates, "predicate")
                if fact[0] in self.derived:
                    raise form.wrong("effects on facts", f"{fact[0]}, which is derived", "change what it follows from")
                yield fact, head != "not", when, each

    # -- costs

    def _is_cost(self, form: Form) -> bool:
        """Whether a form adds to the cost: to `total-cost`, or to the only function without terms that is increased."""
        if len(form) != 3 or not isinstance(form[1], Form) or len(form[1]) != 1:
            return False
        name = form[1].head
        if not self.cost and name in self.functions and (name == "total-cost" or "total-cost" not in self.functions):
            self.cost = name
        return name == self.cost

    def prices(self, form: Form, scope: Scope) -> tuple[float, tuple[base.Price, ...]]:
        """What the effects of an action cost: a number, and what depends on its arguments."""
        if form.head != "increase":
            amount, prices = 0.0, tuple[base.Price, ...]()
            for part in form if form.head in ("and", "") else ():
                if isinstance(part, Form):
                    more, others = self.prices(part, scope)
                    amount, prices = amount + more, prices + others
            return amount, prices
        return self.amount(form[2], form, scope)

    def amount(self, cost: str | Form, form: Form, scope: Scope) -> tuple[float, tuple[base.Price, ...]]:
        """A number, a function, or a sum, product, quotient or difference of them."""
        if isinstance(cost, str):
            return number(cost, form), ()
        if cost.head == "+":
            parts = [self.amount(part, form, scope) for part in cost[1:]]
            return sum(part[0] for part in parts), tuple(price for part in parts for price in part[1])
        if cost.head in ("*", "/", "-") and len(cost) > 2:
            for part in cost[1:]:
                self.amount(part, form, scope)
            self.computed[str(cost)] = cost
            return 0.0, (base.Price(str(cost), tuple(scope[name][0] for name in variables_of(cost))),)
        if cost.head not in self.functions or cost.head == self.cost:
            raise cost.wrong("a cost that is a number, a function or a sum", str(cost), "write it as one of them")
        name, *terms = self.arguments(cost, scope, self.functions, "function")
        return 0.0, (base.Price(name, tuple(terms)),)


def variables_of(form: Form) -> tuple[str, ...]:
    """The variables of a form, in the order of their first places."""
    found: list[str] = []
    for part in form:
        found += variables_of(part) if isinstance(part, Form) else [part] if part.startswith("?") else []
    return tuple(dict.fromkeys(found))


def number(text: str | Form, form: Form) -> float:
    """A number that is not negative."""
    try:
        value = float(str(text))
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise form.wrong("a number of at least 0", str(text), "costs are not negative")
    return value
