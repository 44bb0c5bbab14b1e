"""Combine validation rules into one, which looks up the visitor methods of each rule once.

graphql-core looks up the methods of all 33 rules for each kind of node in each document. That took a sixth of the time
of a first request.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

from graphql import BREAK, SKIP, ASTValidationRule, Node, ValidationContext, ValidationRule

Methods = list[tuple[int, str]]  # the position of a rule, and the name of its method


class CombinedRule(ValidationRule):
    """Runs rules side by side, as `ParallelVisitor` does: a node that one rule skips is visited by the others."""

    rules: ClassVar[Sequence[type[ASTValidationRule]]]

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.visitors = [rule(context) for rule in self.rules]
        self.skipped: dict[int, Any] = {}  # by the position of a rule: the node that it skips, or BREAK


@cache
def combine_rules(rules: tuple[type[ASTValidationRule], ...]) -> type[CombinedRule]:
    """Return the one rule that does the work of these rules."""
    names = {name for rule in rules for name in dir(rule) if callable(getattr(rule, name))}
    kinds = {kind for event, _, kind in (name.partition("_") for name in names) if event in ("enter", "leave")}
    methods: dict[str, Callable[..., None]] = {}
    for kind in kinds:
        suffix = f"_{kind}" if kind else ""
        methods[f"enter{suffix}"] = build_enter(find_methods(rules, "enter", kind))
        methods[f"leave{suffix}"] = build_leave(find_methods(rules, "leave", kind))
    return type("AllRules", (CombinedRule,), {"rules": rules, **methods})


def find_methods(rules: Sequence[type[ASTValidationRule]], event: str, kind: str) -> Methods:
    """Return the methods that rules have for entering or leaving a kind of node."""
    found = []
    for position, rule in enumerate(rules):
        for name in (f"{event}_{kind}", event):
            if getattr(rule, name, None):
                found.append((position, name))
                break
    return found


def build_enter(methods: Methods) -> Callable[..., None]:
    def enter(self: CombinedRule, node: Node, *others: Any) -> None:
        skipped = self.skipped
        for position, name in methods:
            if position not in skipped:
                result = getattr(self.visitors[position], name)(node, *others)
                if result is not None:
                    skipped[position] = node if result in (SKIP, False) else require_break(result)

    return enter


def build_leave(methods: Methods) -> Callable[..., None]:
    def leave(self: CombinedRule, node: Node, *others: Any) -> None:
        skipped = self.skipped
        for position, name in methods:
            if position not in skipped:
                result = getattr(self.visitors[position], name)(node, *others)
                if result not in (None, SKIP, False):
                    skipped[position] = require_break(result)
        for position in [position for position, skipped_node in skipped.items() if skipped_node is node]:
            del skipped[position]

    return leave


def require_break(result: Any) -> Any:
    if result in (BREAK, True):
        return BREAK
    raise TypeError("A validation rule cannot change a document.")
