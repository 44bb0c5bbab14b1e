"""The combined rule reports the errors of the separate rules, in the same order."""

from random import Random
from typing import Any

import pytest
from graphql import BREAK, GraphQLError, ValidationRule, build_schema, parse, validate
from graphql.language.visitor import SKIP
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.graphql.execution.combined_rules import combine_rules
from contentapi.graphql.execution.validation import RULES
from contentapi.schema import SCHEMA
from tests.thoroughness import scale_examples

NAMES = ["posts", "post", "author", "id", "title", "comments", "name", "body", "nobody", "__typename"]
KINDS = ["Query", "Post", "Author", "Comment", "Mutation", "PostOrder", "Nothing"]
VALUES = ["1", '"x"', "$a", "$b", "null", "published", "[1]", "{ x: 1 }", '"\\u0000"']
HEADS = ["", "query", "query Q", "mutation", "query ($a: Int)", "query Q($a: ID!, $a: Post, $b: Int = x)"]


class DocumentGenerator:
    """Generates random documents, most of which are wrong in several ways."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.choose = rng.choice

    def generate_document(self) -> str:
        return "\n".join(self.generate_definition() for _ in range(self.rng.randint(1, 3)))

    def generate_definition(self) -> str:
        body = self.generate_body(self.rng.randint(0, 2))
        fragment = f"fragment {self.choose('ABC')} on {self.choose(KINDS)} {body}"
        return self.choose([f"{self.choose(HEADS)} {body}"] * 3 + [fragment] * 3 + ["type T { x: Int }"])

    def generate_body(self, depth: int) -> str:
        return f"{{ {' '.join(self.generate_selection(depth) for _ in range(self.rng.randint(1, 3)))} }}"

    def generate_selection(self, depth: int) -> str:
        field = (
            f"{self.choose(['', 'key: '])}{self.choose(NAMES)}{self.generate_arguments()}{self.generate_directives()}"
        )
        if depth == 0 or self.rng.random() < 0.5:
            return self.choose([field, field, f"...{self.choose('ABC')}{self.generate_directives()}"])
        fragment = f"... on {self.choose(KINDS)}{self.generate_directives()}"
        return f"{self.choose([field, field, fragment])} {self.generate_body(depth - 1)}"

    def generate_arguments(self) -> str:
        names = [self.choose(["id", "limit", "status", "if", "what"]) for _ in range(self.rng.randint(0, 2))]
        return f"({', '.join(f'{name}: {self.choose(VALUES)}' for name in names)})" if names else ""

    def generate_directives(self) -> str:
        names = [self.choose(["include", "skip", "other"]) for _ in range(max(0, self.rng.randint(-2, 2)))]
        return "".join(f" @{name}{self.generate_arguments()}" for name in names)


def formatted_errors(errors: list[GraphQLError]) -> list[dict[str, Any]]:
    return [dict(error.formatted) for error in errors]


@pytest.mark.property
def test_combined_rules_report_the_errors_of_separate_rules() -> None:
    @settings(max_examples=scale_examples(2000), deadline=None)
    @given(rng=st.randoms(use_true_random=False), most=st.sampled_from([1, 3, 100]))
    def are_the_same(rng: Random, most: int) -> None:
        document = parse(DocumentGenerator(rng).generate_document())
        one_by_one = validate(SCHEMA, document, RULES, max_errors=most)
        assert formatted_errors(
            validate(SCHEMA, document, [combine_rules(RULES)], max_errors=most)
        ) == formatted_errors(one_by_one)

    are_the_same()


SMALL = build_schema("type Query { a: Query, b: Int }")


def rule(results: dict[str, Any], log: list[str]) -> type[ValidationRule]:
    """Return a rule that logs the fields it enters and leaves, and returns the result given for a log entry."""

    def look(moment: str) -> Any:
        def looks(_: Any, node: Any, *__: Any) -> Any:
            log.append(f"{moment} {node.name.value}")
            return results.get(log[-1])

        return looks

    return type("Rule", (ValidationRule,), {"enter_field": look("enter"), "leave_field": look("leave")})


@pytest.mark.parametrize("moment", ["enter a", "enter b", "leave b", "leave a"])
@pytest.mark.parametrize("result", [SKIP, False, BREAK, True, None])
def test_node_skipped_by_one_rule_is_visited_by_the_others(moment: str, result: Any) -> None:
    document = parse("{ a { b a { b } } b }")
    logs: list[list[str]] = [[], [], [], []]

    validate(SMALL, document, [rule({moment: result}, logs[0]), rule({}, logs[1])])
    validate(SMALL, document, [combine_rules((rule({moment: result}, logs[2]), rule({}, logs[3])))])

    assert logs[2:] == logs[:2]
    assert logs[3] == [
        "enter a",
        "enter b",
        "leave b",
        "enter a",
        "enter b",
        "leave b",
        "leave a",
        "leave a",
        "enter b",
        "leave b",
    ]


def test_rule_that_changes_the_document_raises_type_error() -> None:
    changing = rule({"enter b": parse("{ a }")}, [])

    with pytest.raises(TypeError, match="cannot change"):
        validate(SMALL, parse("{ b }"), [combine_rules((changing,))])
