"""All rules of validation as one, which knows by their classes what they look at.

graphql-core asks each of its 33 visitors anew for its methods, at each kind of node in each document: that, and the
thousand objects which only the garbage collector can let go of, was a sixth of what a first request takes.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, ClassVar

from graphql import BREAK, SKIP, ASTValidationRule, Node, ValidationContext, ValidationRule
from graphql.language.visitor import EnterLeaveVisitor

Place = int  # of a rule among all
Methods = list[tuple[Place, str]]
Look = Callable[..., Any]


class CombinedRule(ValidationRule):
    """Rules that are run side by side, as `ParallelVisitor` runs them: what one skips the others still visit."""

    rules: ClassVar[Sequence[type[ASTValidationRule]]]
    methods: ClassVar[Callable[[str], tuple[Methods, Methods]]]

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.visitors = [rule(context) for rule in self.rules]
        self.skipped: dict[Place, Any] = {}  # which rules look at nothing, until they leave this node; or for good

    def get_enter_leave_for_kind(self, kind: str) -> EnterLeaveVisitor:
        on_enter, on_leave = type(self).methods(kind)
        if not on_enter and not on_leave:
            return EnterLeaveVisitor(None, None)
        return EnterLeaveVisitor(
            partial(self.entering, self.bound(on_enter)), partial(self.leaving, self.bound(on_leave))
        )

    def bound(self, methods: Methods) -> list[tuple[Place, Look]]:
        return [(place, getattr(self.visitors[place], name)) for place, name in methods]

    def entering(self, looks: list[tuple[Place, Look]], node: Node, *others: Any) -> None:
        for place, look in looks:
            if place not in self.skipped:
                wish = look(node, *others)
                if wish is not None:
                    self.skipped[place] = node if wish in (SKIP, False) else as_break(wish)

    def leaving(self, looks: list[tuple[Place, Look]], node: Node, *others: Any) -> None:
        for place, look in looks:
            if place not in self.skipped:
                wish = look(node, *others)
                if wish not in (None, SKIP, False):
                    self.skipped[place] = as_break(wish)
        for place in [place for place, until in self.skipped.items() if until is node]:
            del self.skipped[place]


def as_break(wish: Any) -> Any:
    if wish in (BREAK, True):
        return BREAK
    raise TypeError("A rule of validation cannot change a document.")


@cache
def combine_rules(rules: tuple[type[ASTValidationRule], ...]) -> type[CombinedRule]:
    """Return the one rule that is all of these."""
    methods = cache(partial(find_methods, rules))
    return type("AllRules", (CombinedRule,), {"rules": rules, "methods": staticmethod(methods)})


def find_methods(rules: Sequence[type[ASTValidationRule]], kind: str) -> tuple[Methods, Methods]:
    """Return the methods that rules have for entering a kind of node, and for leaving it."""
    on_enter, on_leave = (
        [(place, name) for place, rule in enumerate(rules) if (name := find_method(rule, moment, kind))]
        for moment in ("enter", "leave")
    )
    return on_enter, on_leave


def find_method(rule: type[ASTValidationRule], moment: str, kind: str) -> str | None:
    """Return the name of the method that a rule has for entering or leaving a kind of node."""
    return next((name for name in (f"{moment}_{kind}", moment) if getattr(rule, name, None)), None)
