"""A hypothesis strategy for valid GraphQL documents of the blog's SDL, with variables and unusual selections."""

import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from blog.models import Comment, Post
from contentapi.schema import SCHEMA
from tests.contentapi.projection.document_cursors import (
    PAGES,
    Pages,
    build_criteria,
    build_cursor,
    build_cursor_of_post,
    in_graphql,
    in_json,
    in_sort,
)
from tests.contentapi.projection.document_schema import (
    ALIASES,
    DEEPEST,
    FILTERS,
    IDS,
    IDS_OF,
    INPUTS,
    LEAVES,
    NODE_IDS,
    NODES,
    OBJECTS,
    RELAYS,
    SORT_DIRECTIONS,
    SORT_FIELDS,
    STATES,
    TYPES,
    WHOLE,
)
from tests.contentapi.projection.reference_rows import ORDERS as ORDERINGS


@dataclass(frozen=True)
class Request:
    text: str
    operation_name: str | None
    both_variables: tuple[dict[str, Any], dict[str, Any]]
    wrong_limit: int


@dataclass
class Writing:
    """The state while a document is generated. Each response key has one call, so that all selections can merge.

    In a selection of nodes, fields of several types are beside each other. GraphQL then requires that equal keys have
    equal types, which `types` ensures.
    """

    draw: st.DrawFn
    wrong_limit: int
    calls: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    fragments: dict[str, tuple[str, str]] = field(default_factory=dict)
    room: int = 24

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(0, of - 1)) == of - 1

    def one_of(self, *texts: str) -> str:
        return self.draw(st.sampled_from(texts))

    def selection_set(self, kind: str, depth: int) -> str:
        count = self.draw(st.integers(1, 4))
        whole = WHOLE if kind.endswith("Connection") and self.chance(2) else ""
        return "{ " + whole + " ".join(self.selection(kind, depth) for _ in range(count)) + " }"

    def selection(self, kind: str, depth: int) -> str:
        self.room -= 1
        what = self.draw(st.integers(0, 9))
        if what < (8 if kind == "Node" else 2) and self.room > 0:
            return self.fragment(kind, depth)
        if what < (6 if depth and kind not in RELAYS else 9) and kind in OBJECTS and self.room > 0 and depth < DEEPEST:
            return self.object(kind, depth)
        if kind in LEAVES and (what < 9 or kind == "PageInfo"):
            return self.called(kind, self.one_of(*LEAVES[kind]), "")
        return self.called(kind, "__typename", "")

    def called(self, kind: str, name: str, arguments: str) -> str:
        """Return the call of a field under its name, or under an alias that no other call has."""
        call = f"{name}{arguments}"
        key = self.one_of(*ALIASES) if self.chance(3) else name
        # A selection of `Node` applies to the same objects as one of their own types.
        same = {"Node": ["Node", *NODES]}.get(kind, [kind, "Node"] if kind in NODES else [kind])
        is_free = all(self.calls.get(f"{each}.{key}", call) == call for each in same)
        if not is_free or not self.has_same_type(kind, name, key):
            key = f"k{len(self.calls)}"
        self.calls[f"{kind}.{key}"] = call
        return (call if key == name else f"{key}: {call}") + self.directives()

    def has_same_type(self, kind: str, name: str, key: str) -> bool:
        """Return whether a field has the type of the fields with this key in other types that implement Node."""
        if kind not in (*NODES, "Node"):
            return True
        fields: Any = SCHEMA.type_map[kind]
        type_ = "String!" if name == "__typename" else str(fields.fields[name].type)
        return self.types.setdefault(key, type_) == type_

    def object(self, kind: str, depth: int) -> str:
        name = self.one_of(*OBJECTS[kind])
        call = self.called(kind, name, self.arguments(kind, name))
        return f"{call} {self.selection_set(OBJECTS[kind][name], depth + 1)}"

    def fragment(self, kind: str, depth: int) -> str:
        around, conditions = kind, [kind]
        if kind == "Node":
            conditions = [*NODES, kind]
        elif kind in NODES:
            conditions = [kind, kind, kind, "Node"]
        kind = self.one_of(*conditions)
        known = [name for name, (of, _) in self.fragments.items() if of == kind]
        form = self.draw(st.integers(0 if kind == around else 1, 4))
        if form == 0:
            return f"...{self.directives()} {self.selection_set(kind, depth)}"
        if form == 1:
            return f"... on {kind}{self.directives()} {self.selection_set(kind, depth)}"
        if form == 2 or not known:
            body = self.selection_set(kind, max(depth, 2))
            name = f"F{len(self.fragments)}"
            self.fragments[name] = kind, f"fragment {name} on {kind} {body}"
            return f"...{name}{self.directives()}"
        return f"...{self.one_of(*known)}{self.directives()}"

    def directives(self) -> str:
        if not self.chance(5):
            return ""
        condition = self.one_of("true", "false", "$yes", "$perhaps")
        one = self.one_of(f" @include(if: {condition})", f" @skip(if: {condition})")
        return one + (" @skip(if: $yes)" if "include" in one and self.chance(4) else "")

    def arguments(self, kind: str, name: str) -> str:
        if name in IDS_OF and kind == "Query":
            ids = self.one_of(*map(str, IDS_OF[name]))
            id_ = self.one_of(ids, ids, f'"{ids}"', "$postId", "$authorId", '"none"')
            return f"(id: {id_})"
        if name == "node" and kind == "Query":
            return f"(id: {self.one_of(*NODE_IDS, '$postId')})"
        if name == "nodes":
            ids = ", ".join(self.one_of(*NODE_IDS, '"none"') for _ in range(self.draw(st.integers(0, 4))))
            return f"(ids: {'$ids' if self.chance(4) else f'[{ids}]'})"
        if name == "createPost":
            return "(input: $input)"
        if f"{kind}.{name}" in PAGES:
            return self.window(f"{kind}.{name}")
        given = []
        if name in ("posts", "comments") and self.chance(2):
            given.append(f"limit: {self.limit()}")
        if name == "posts" and self.chance(2):
            given.append(f"status: {self.one_of('draft', 'published', 'archived', 'null', '$status', '$published')}")
        return f"({', '.join(reversed(given) if self.chance(2) else given)})" if given else ""

    def window(self, name: str) -> str:
        """Return the arguments of a connection, most of which are consistent."""
        pages, of_posts = PAGES[name], name == "Query.postsConnection"
        filter_, order = (self.draw(st.sampled_from(FILTERS)) if of_posts and self.chance(2) else {}), None
        criteria = build_criteria(filter_)
        given = {}
        if self.chance(2):
            by_creation = [name for name in ORDERINGS[pages.model] if name.startswith("createdAt")]
            order = self.one_of(*(by_creation if name == "Author.postsConnection" else ORDERINGS[pages.model]))
            given["orderBy"] = in_sort(order) if pages.is_sorted_by_input else order
        elif pages.variables and self.chance(6):
            given["orderBy"] = self.one_of(*pages.variables)
        if name == "Author.postsConnection" and self.chance(3):
            status = self.one_of("draft", "published", "null", "$status", "$published")
            given["status"] = status
            criteria = {"status": status} if status.isalpha() and status != "null" else {}
        if filter_:
            given["filter"] = in_graphql(filter_)
        elif of_posts and self.chance(6):
            given["filter"] = "$filter"
        sizes = {"first": "$first", "last": "$last"}
        if self.chance(2):
            size = self.one_of(*sizes)
            given[size] = sizes[size] if self.chance(4) else self.limit()
            if self.chance(20):
                given |= sizes
        for end in ("after", "before"):
            if self.chance(9 if pages.parent else 3):
                given[end] = self.cursor(pages, criteria, order)
        return f"({', '.join(f'{name}: {value}' for name, value in given.items())})" if given else ""

    def cursor(self, pages: Pages, criteria: dict[str, str], order: str | None) -> str:
        if self.chance(12):
            return self.one_of("$cursor", "null", '"none"')
        return f'"{build_cursor(pages, self.draw(st.integers(0, 13)), order or pages.default, criteria)}"'

    def limit(self) -> str:
        return str(self.wrong_limit) if self.chance(30) else self.one_of("1", "2", "100", "null", "$limit", "$few")

    def operation(self, name: str | None, kind: str, *, root: str | None = None) -> str:
        body = "{ " + self.object(kind, 0) + " }" if root == "one" else self.selection_set(kind, 0)
        used = [f"${name}: {TYPES[name]}" for name in TYPES if re.search(rf"\${name}\b", self.reached_from(body))]
        head = "mutation" if kind == "Mutation" else "query"
        declared = f" ({', '.join(used)})" if used else ""
        return f"{head} {name or ''}{declared} {body}"

    def reached_from(self, body: str) -> str:
        """Return a text together with all fragments that it uses, directly or through others."""
        reached = set(re.findall(r"\.\.\.(F\d+)", body))
        pending = list(reached)
        while pending:
            for name in re.findall(r"\.\.\.(F\d+)", self.fragments[pending.pop()][1]):
                if name not in reached:
                    reached.add(name)
                    pending.append(name)
        return " ".join([body, *(self.fragments[name][1] for name in reached)])


@st.composite
def values_of_variables(draw: st.DrawFn, text: str) -> dict[str, Any]:
    """Return values for the variables of a document. Optional ones have a value, are null, or are omitted."""
    wholly: dict[str, st.SearchStrategy[Any]] = {
        "postId": IDS,
        "ids": st.lists(st.sampled_from([*NODE_IDS, "none"]), max_size=4),
        "authorId": IDS,
        "limit": st.none() | st.sampled_from([1, 2, 3, 100]),
        "few": st.none() | st.sampled_from([1, 3, 100]),
        "status": st.none() | STATES,
        "published": st.none() | STATES,
        "first": st.none() | st.sampled_from([1, 2, 3, 100]),
        "last": st.none() | st.sampled_from([1, 2, 100]),
        "cursor": st.none() | st.builds(build_cursor_of_post, st.integers(0, 9)),
        "filter": st.none() | st.sampled_from(FILTERS).map(in_json),
        "order": st.none() | st.sampled_from(list(ORDERINGS[Post])),
        "wayOfComments": st.none() | st.sampled_from(list(ORDERINGS[Comment])),
        "sort": st.none() | st.fixed_dictionaries({"field": SORT_FIELDS}, optional={"direction": SORT_DIRECTIONS}),
        "sortField": SORT_FIELDS,
        "sortDirection": SORT_DIRECTIONS,
        "yes": st.booleans(),
        "perhaps": st.booleans(),
        "input": INPUTS,
    }
    used = [name for name in TYPES if f"${name}" in text]
    return {name: draw(wholly[name]) for name in used if TYPES[name].endswith("!") or draw(st.integers(0, 2))}


@st.composite
def requests(draw: st.DrawFn, *, mutations: bool = False) -> Request:
    """Return a document with one or two operations, the one to execute, and two sets of values for its variables."""
    writing = Writing(draw, wrong_limit=draw(st.sampled_from([0, -1, 101, 2**31 - 1])))
    several = writing.chance(4)
    kind = "Mutation" if mutations else "Query"
    operations = [
        writing.operation(
            "Chosen" if several or writing.chance(3) else None, kind, root=draw(st.sampled_from(["one", None]))
        )
    ]
    if several:
        operations.append(writing.operation("Other", draw(st.sampled_from(["Query", "Mutation"]))))
    fragments = [text for _, text in writing.fragments.values()]
    parts = draw(st.sampled_from([[*operations, *fragments], [*fragments, *reversed(operations)]]))
    both = (draw(values_of_variables(operations[0])), draw(values_of_variables(operations[0])))
    return Request("\n".join(parts), "Chosen" if several else None, both, writing.wrong_limit)
