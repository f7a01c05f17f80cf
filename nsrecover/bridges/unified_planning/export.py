"""Any domain as a planning problem of `unified_planning`.

    problem = to_unified_planning(instance, state, goal)  # for any planner that unified-planning knows
    steps = steps_of(instance.domain, result.plan)

docs/domains.md shows a whole program. Needs unified-planning: `pip install 'nsrecover[up]'`.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from nsrecover.bridges.unified_planning.reduction import instance_of
from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.util.extras import needs_extra

with needs_extra("up", "unified-planning"):
    from unified_planning import shortcuts as up
    from unified_planning.exceptions import UPException
    from unified_planning.model import Action as UPAction
    from unified_planning.model import Fluent, FNode, Problem, Type, Variable
    from unified_planning.plans import SequentialPlan

Terms = Mapping[str, FNode]
"""Variable -> expression of unified-planning."""


def to_unified_planning(instance: Instance, state: base.State, goal: base.Formula | Iterable[StateFact]) -> Problem:
    """A planning problem over the objects of an instance.

    Traits are unary fluents that never change. A derived predicate is replaced by its definition. One that refers to
    itself is a fluent that the actions `derive` compute again after every action that can change it, up to the least
    fixpoint. Laws are actions, too: `law_1`, `law_2`, ... follow every action in order. Both cost nothing, and
    `steps_of` drops them from plans. Operators without effects are left out. `repair` and the engines of nsrecover take
    the problem only if its effects have few conditions: the compilers of unified-planning double the actions for each.

    Args:
        instance: the domain and the objects.
        state: where to start, after the laws have acted.
        goal: what has to hold in the end: a formula, or facts.

    Raises:
        InvalidConfiguration: a predicate of the goal has another number of terms than in the domain.
    """
    if not isinstance(goal, base.Formula):
        goal = base.And(tuple(map(instance.condition, goal)))
    return _Export(instance, state | instance.static, goal).problem


def steps_of(domain: Domain, plan: SequentialPlan) -> list[Action]:
    """The actions of a plan that are operators of the domain."""
    return [
        Action(
            taken.action.name,
            tuple(_own(argument.object().name, domain.operators) for argument in taken.actual_parameters),
        )
        for taken in plan.actions
        if taken.action.name in domain.operators
    ]


def plan_of(problem: Problem, steps: Iterable[Action]) -> SequentialPlan:
    """Steps as a plan for a problem of a domain without laws and recursive predicates.

    Raises:
        InvalidPlan: a step is not an action of the problem.
    """
    actions = []
    for step in steps:
        try:
            actions.append(instance_of(problem, step.operator, step.arguments))
        except (UPException, AssertionError) as wrong:
            raise InvalidPlan(f"expected actions of {problem.name!r}, found {step} ({wrong})") from wrong
    return SequentialPlan(actions, problem.environment)


class _Export:
    """The translation of one instance; `problem` is the result."""

    def __init__(self, instance: Instance, state: base.State, goal: base.Formula) -> None:
        domain = self._domain = instance.domain
        self._numbers = itertools.count()
        self._recursive = domain.recursive
        operators = [operator for operator in domain.operators.values() if operator.effects]
        facts, traits = _mentioned(domain, operators, goal)
        facts |= state
        self.problem = up.Problem(domain.name)
        self._anything = up.UserType("anything")
        self._thing = up.UserType("thing", self._anything)
        constants = {term for _, *terms in facts for term in terms if term != "*" and not term.startswith("?")}
        names = {name: name + "_" if name in domain.operators else name for name in instance.objects}
        self._objects = {name: up.Object(said, self._thing) for name, said in names.items()}
        self._objects |= {n: up.Object(n, self._anything) for n in sorted(constants) if n not in self._objects}
        self.problem.add_objects(self._objects.values())
        traits |= frozenset().union(*instance.objects.values())
        self._traits = {trait: self._declared(f"is_{trait}", 1) for trait in sorted(traits)}
        self._fluents = {name: self._declared(name, arity) for name, arity in self._arities(facts).items()}
        for name, own in instance.objects.items():
            for trait in own:
                self.problem.set_initial_value(self._traits[trait](self._objects[name]), True)
        derived = (
            (name, *terms)
            for name in self._recursive
            for terms in itertools.product(instance.objects, repeat=len(domain.derived[name].variables))
            if instance.holds(state, base.Atom(name, terms))
        )
        for fact in (*state, *derived):
            self.problem.set_initial_value(self._fluent(fact, {}), True)
        self._plan_stages(operators)
        self._tables: dict[str, Fluent] = {}
        costs = {
            action: self._cost(operator, action) for operator in operators for action in [self._operator(operator)]
        }
        for number, (name, effect) in enumerate(self._stages, start=1):
            costs |= dict.fromkeys(self._stage(number, name, effect), up.Int(0))
        self.problem.add_actions(costs)
        self.problem.add_quality_metric(up.MinimizeActionCosts(costs))
        self.problem.add_goal(up.And(self._formula(goal, {}), *(turn() for turn in self._turns[:1])))

    # -- fluents

    def _declared(self, name: str, arity: int, kind: Type | None = None) -> Fluent:
        """A new fluent, under a name that no operator, object or fluent has; false by default if it is Boolean."""
        taken = {*self._objects, *self._domain.operators, *(fluent.name for fluent in self.problem.fluents)}
        while name in taken:
            name += "_"
        fluent = up.Fluent(name, kind or up.BoolType(), **{f"x{i}": self._anything for i in range(arity)})
        self.problem.add_fluent(fluent, default_initial_value=None if kind else False)
        return fluent

    def _arities(self, facts: Iterable[StateFact]) -> dict[str, int]:
        """The number of terms of every predicate that becomes a fluent."""
        found: dict[str, int] = {}
        for predicate, *terms in sorted(facts):
            if predicate in self._domain.derived and predicate not in self._recursive:
                continue
            if found.setdefault(predicate, len(terms)) != len(terms):
                raise InvalidConfiguration(
                    f"expected the same number of terms for {predicate!r} everywhere in {self._domain.name!r}, found "
                    f"{found[predicate]} and {len(terms)}"
                )
        return found

    def _term(self, term: str, at: Terms) -> FNode:
        return at[term] if term in at else up.ObjectExp(self._objects[term])

    def _fluent(self, fact: StateFact, at: Terms) -> FNode:
        return self._fluents[fact[0]](*(self._term(term, at) for term in fact[1:]))

    # -- formulas

    def _formula(self, formula: base.Formula, at: Terms) -> FNode:
        match formula:
            case base.Atom(predicate, terms):
                rule = self._domain.derived.get(predicate)
                if rule is None or predicate in self._recursive:
                    return self._fluent((predicate, *terms), at)
                given = {v: self._term(term, at) for v, term in zip(rule.variables, terms, strict=True)}
                return self._formula(rule.definition, given)
            case base.Not(part, _):
                return up.Not(self._formula(part, at))
            case base.And(parts):
                return up.And(*(self._formula(part, at) for part in parts))
            case base.Or(parts):
                return up.Or(*(self._formula(part, at) for part in parts))
            case base.Exists(variable, part, trait):
                own, inner, limits = self._bound((base.Parameter(variable, trait),), at)
                return up.Exists(up.And(*limits, self._formula(part, inner)), *own)
            case base.ForAll(variable, part, trait):
                own, inner, limits = self._bound((base.Parameter(variable, trait),), at)
                return up.Forall(up.Implies(up.And(*limits), self._formula(part, inner)), *own)
            case base.Has(term, trait):
                return self._traits[trait](self._term(term, at))
            case base.Same(one, other):
                return up.Equals(self._term(one, at), self._term(other, at))

    def _bound(self, parameters: Iterable[base.Parameter], at: Terms) -> tuple[list[Variable], Terms, list[FNode]]:
        """New variables for parameters, the terms with them, and the conditions that they have their traits."""
        own, inner, limits = list[Variable](), dict(at), list[FNode]()
        for each in parameters:
            own.append(up.Variable(f"{each.variable.removeprefix('?')}_{next(self._numbers)}", self._thing))
            inner[each.variable] = up.VariableExp(own[-1])
            limits += [self._traits[each.trait](own[-1])] if each.trait else []
        return own, inner, limits

    # -- actions

    def _plan_stages(self, operators: Sequence[base.Operator]) -> None:
        """Find what follows an action: recursive predicates are computed again, and the laws act, in turns."""
        basis = {name for rule in self._recursive for name in self._basis(self._domain.derived[rule].definition)}

        def affects(effects: Iterable[base.Effect]) -> bool:
            return any(fact[0] in basis for effect in effects for fact in (*effect.adds, *effect.deletes))

        self._disturbs = {operator.name: affects(operator.effects) for operator in operators}
        self._stages: list[tuple[str, base.Effect | None]] = [("derive", None)] if any(self._disturbs.values()) else []
        for number, law in enumerate(self._domain.laws, start=1):
            self._stages.append((f"law_{number}", law.effect))
            if affects((law.effect,)):
                self._stages.append((f"derive_{number}", None))
        self._turns = [self._declared(f"turn_{i}", 0) for i in range(len(self._stages) + 1)] if self._stages else []
        for turn in self._turns[:1]:
            self.problem.set_initial_value(turn(), True)

    def _basis(self, formula: base.Formula) -> Iterator[str]:
        """The predicates of the state that a formula depends on."""
        for predicate, *_ in base.facts_of(formula):
            rule = self._domain.derived.get(predicate)
            if rule is None:
                yield predicate
            elif predicate not in self._recursive:
                yield from self._basis(rule.definition)

    def _operator(self, operator: base.Operator) -> UPAction:
        names = {p.variable: p.variable.removeprefix("?") for p in operator.parameters}
        action = up.InstantaneousAction(operator.name, **dict.fromkeys(names.values(), self._thing))
        at = {variable: up.ParameterExp(action.parameter(name)) for variable, name in names.items()}
        for parameter in operator.parameters:
            if parameter.trait:
                action.add_precondition(self._traits[parameter.trait](at[parameter.variable]))
        for need in operator.preconditions:
            action.add_precondition(self._formula(need, at))
        for effect in operator.effects:
            self._add_effect(action, effect, at, operator.effects)
        disturbs = self._disturbs[operator.name]
        if self._turns:
            self._pass_turn(action, 0, 1 if disturbs or self._stages[0][0] != "derive" else 2)
        if disturbs:
            self._forget(action)
        return action

    def _cost(self, operator: base.Operator, action: UPAction) -> FNode:
        """What an action costs; prices are numbers that never change."""
        at = {p.variable: up.ParameterExp(action.parameter(p.variable.removeprefix("?"))) for p in operator.parameters}
        parts = [_number(operator.cost)] if operator.cost or not operator.prices else []
        for price in operator.prices:
            if not price.terms:
                parts.append(_number(price.values[()]))
                continue
            if price.name not in self._tables:
                name = f"{price.name}_cost"
                table = self._tables[price.name] = self._declared(name, len(price.terms), up.RealType())
                for objects, value in price.values.items():
                    self.problem.set_initial_value(table(*(self._objects[name] for name in objects)), _number(value))
            parts.append(self._tables[price.name](*(self._term(term, at) for term in price.terms)))
        return parts[0] if len(parts) == 1 else up.Plus(*parts)

    def _stage(self, number: int, name: str, effect: base.Effect | None) -> list[UPAction]:
        """The actions of a stage: a law, or one that computes recursive predicates and one that finds them complete."""
        action = up.InstantaneousAction(name)
        if effect is not None:
            self._add_effect(action, effect, {}, (effect,))
            self._pass_turn(action, number, number + 1)
            if number < len(self._stages) and self._stages[number][1] is None:
                self._forget(action)
            return [action]
        action.add_precondition(self._turns[number]())
        done = up.InstantaneousAction(f"{name}_done")
        for predicate in self._recursive:
            rule = self._domain.derived[predicate]
            own, at, _ = self._bound(map(base.Parameter, rule.variables), {})
            head, body = self._fluent((predicate, *rule.variables), at), self._formula(rule.definition, at)
            action.add_effect(head, True, body, forall=own)
            done.add_precondition(up.Not(up.Exists(up.And(body, up.Not(head)), *own)))
        self._pass_turn(done, number, number + 1)
        return [action, done]

    def _pass_turn(self, action: UPAction, now: int, following: int) -> None:
        action.add_precondition(self._turns[now]())
        if now != following % len(self._turns):
            action.add_effect(self._turns[now](), False)
            action.add_effect(self._turns[following % len(self._turns)](), True)

    def _forget(self, action: UPAction) -> None:
        """Make recursive predicates false; the next stage computes them again."""
        for predicate in self._recursive:
            variables = self._domain.derived[predicate].variables
            own, at, _ = self._bound(map(base.Parameter, variables), {})
            action.add_effect(self._fluent((predicate, *variables), at), False, forall=own)

    def _add_effect(self, action: UPAction, effect: base.Effect, at: Terms, together: Sequence[base.Effect]) -> None:
        """Add an effect; a deleted fact that one of the effects without a condition adds stays."""
        own, inner, conditions = self._bound(effect.for_each, at)
        if effect.when != base.And(()):
            conditions.append(self._formula(effect.when, inner))
        for fact in effect.adds:
            action.add_effect(self._fluent(fact, inner), True, up.And(*conditions), forall=own)
        kept = [fact for each in together if each.when == base.And(()) and not each.for_each for fact in each.adds]
        for predicate, *terms in effect.deletes:
            places, anything = dict(inner), list[Variable]()
            for number, term in enumerate(terms):
                if term == "*":
                    terms[number] = f"*{number}"
                    anything.append(up.Variable(f"any_{next(self._numbers)}", self._anything))
                    places[terms[number]] = up.VariableExp(anything[-1])
            limits = [up.Not(self._equal(terms, added, places)) for name, *added in kept if name == predicate]
            fluent = self._fluent((predicate, *terms), places)
            action.add_effect(fluent, False, up.And(*conditions, *limits), forall=[*own, *anything])

    def _equal(self, some: Sequence[str], others: Sequence[str], at: Terms) -> FNode:
        pairs = zip(some, others, strict=True)
        return up.And(*(up.Equals(self._term(one, at), self._term(other, at)) for one, other in pairs))


def _own(name: str, operators: Collection[str]) -> str:
    """The name of an object whose name in a problem may be longer, as an action has it."""
    return name[:-1] if name.endswith("_") and name[:-1] in operators else name


def _number(value: float) -> FNode:
    return up.Int(int(value)) if value == int(value) else up.Real(Fraction(value))


def _mentioned(
    domain: Domain, operators: Sequence[base.Operator], goal: base.Formula
) -> tuple[set[StateFact], set[str]]:
    """The facts, with variables, and the traits that operators, laws, definitions and the goal mention."""
    effects = [effect for operator in operators for effect in operator.effects] + [law.effect for law in domain.laws]
    formulas = [goal, *(need for operator in operators for need in operator.preconditions)]
    formulas += [effect.when for effect in effects] + [rule.definition for rule in domain.derived.values()]
    facts = {fact for effect in effects for fact in (*effect.adds, *effect.deletes)}
    facts |= {fact for formula in formulas for fact in base.facts_of(formula)}
    traits = {
        part.trait
        for f in formulas
        for part in base.parts_of(f)
        if isinstance(part, base.Exists | base.ForAll | base.Has)
    }
    traits |= {parameter.trait for operator in operators for parameter in operator.parameters}
    traits |= {parameter.trait for effect in effects for parameter in effect.for_each}
    return facts, traits - {""}
