"""The combined rule reports the errors of the separate rules, in the same order."""

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

NAMES = st.sampled_from(["posts", "post", "author", "id", "title", "comments", "name", "body", "nobody", "__typename"])
KINDS = st.sampled_from(["Query", "Post", "Author", "Comment", "Mutation", "PostOrder", "Nothing"])
FRAGMENTS = st.sampled_from(["A", "B", "C"])
VALUES = st.sampled_from(["1", '"x"', "$a", "$b", "null", "published", "[1]", "{ x: 1 }", '"\\u0000"'])
ARGUMENTS = st.lists(st.tuples(st.sampled_from(["id", "limit", "status", "if", "what"]), VALUES), max_size=2).map(
    lambda pairs: f"({', '.join(f'{name}: {value}' for name, value in pairs)})" if pairs else ""
)
DIRECTIVES = st.lists(st.tuples(st.sampled_from(["include", "skip", "other"]), ARGUMENTS), max_size=2).map(
    lambda found: "".join(f" @{name}{arguments}" for name, arguments in found)
)


def selections(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=4).map(lambda items: "{ " + " ".join(items) + " }")
    return st.one_of(
        st.builds("{}{}{} {}".format, NAMES, ARGUMENTS, DIRECTIVES, body),
        st.builds("key: {}{} {}".format, NAMES, ARGUMENTS, body),
        st.builds("... on {}{} {}".format, KINDS, DIRECTIVES, body),
    )


FIELDS = st.one_of(
    st.builds("{}{}{}".format, NAMES, ARGUMENTS, DIRECTIVES),
    st.builds("key: {}".format, NAMES),
    st.builds("...{}{}".format, FRAGMENTS, DIRECTIVES),
)
BODIES = st.lists(st.recursive(FIELDS, selections, max_leaves=8), min_size=1, max_size=4).map(
    lambda items: "{ " + " ".join(items) + " }"
)
HEADS = st.sampled_from(
    ["", "query", "query Q", "mutation", "query ($a: Int)", "query Q($a: ID!, $a: Post, $b: Int = x)"]
)
DEFINITIONS = st.one_of(
    st.builds("{} {}".format, HEADS, BODIES),
    st.builds("fragment {} on {} {}".format, FRAGMENTS, KINDS, BODIES),
    st.just("type T { x: Int }"),
)
TEXTS = st.lists(DEFINITIONS, min_size=1, max_size=4).map("\n".join)


def formatted_errors(errors: list[GraphQLError]) -> list[dict[str, Any]]:
    return [dict(error.formatted) for error in errors]


@pytest.mark.property
def test_combined_rules_report_the_errors_of_separate_rules() -> None:
    @settings(max_examples=scale_examples(2000), deadline=None)
    @given(text=TEXTS, most=st.sampled_from([1, 3, 100]))
    def are_the_same(text: str, most: int) -> None:
        document = parse(text)
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
