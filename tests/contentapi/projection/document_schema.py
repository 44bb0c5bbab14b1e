"""The types and fields of the blog's SDL, and values of its inputs, for generated documents."""

from typing import Any

from hypothesis import strategies as st

from tests.content import TEXT_FIELDS
from tests.contentapi.projection.fixture_rows import (
    AUTHORS,
    BO,
    FIRST,
    IDA,
    LATER,
    MOMENT,
    MOMENTS,
    ORDERS,
    POSTS,
    TEXTS,
    USERS,
)

CONTENT = [field.api_name for field in TEXT_FIELDS if field.name != "slug"]
LEAVES = {
    "Post": [
        *("id", "status", "commentCount", "createdAt", "updatedAt", "publishAt", "publishedAt", "bodyHtml", "version"),
        *CONTENT,
    ],
    "WorkingCopy": [
        *("publishAt", "baseVersion", "version", "updatedAt", "updatedBy"),
        *CONTENT,
    ],
    "Author": ["id", "name", "bio", "avatarUrl", "email"],
    "Comment": ["id", "body", "createdAt"],
    "User": ["id", "name", "email"],
    "Order": ["id", "status", "total", "createdAt", "allowedActions", "version"],
    "OrderTracking": ["carrier", "trackingNumber", "shippedAt", "deliveredAt"],
    "Viewer": ["role", "scopes"],
    "Node": ["id"],
    "PageInfo": ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"],
}
OBJECTS = {
    "Query": {
        "post": "Post",
        "posts": "Post",
        "postsConnection": "PostConnection",
        "author": "Author",
        "authors": "AuthorConnection",
        "comment": "Comment",
        "viewer": "Viewer",
        "user": "User",
        "users": "UserConnection",
        "order": "Order",
        "orders": "OrderConnection",
        "node": "Node",
        "nodes": "Node",
    },
    "Mutation": {"createPost": "Post"},
    "Post": {
        "author": "Author",
        "coauthors": "Author",
        "comments": "Comment",
        "commentsConnection": "CommentConnection",
        "workingCopy": "WorkingCopy",
    },
    "Author": {"posts": "Post", "postsConnection": "PostConnection"},
    "Comment": {"author": "Author"},
    "Viewer": {"user": "User", "author": "Author", "orders": "OrderConnection"},
    "User": {"author": "Author"},
    "Order": {"tracking": "OrderTracking"},
}
NODES = ["Post", "Author", "Comment", "User", "Order"]  # the types that implement Node
for node in NODES:
    LEAVES |= {f"{node}Connection": ["totalCount"], f"{node}Edge": ["cursor"]}
    OBJECTS |= {f"{node}Connection": {"edges": f"{node}Edge", "pageInfo": "PageInfo"}, f"{node}Edge": {"node": node}}
WHOLE = """ zEdges: edges { zCursor: cursor zNode: node { zId: id } } zTotal: totalCount
zInfo: pageInfo { zNext: hasNextPage zPrevious: hasPreviousPage zStart: startCursor zEnd: endCursor } """
RELAYS = tuple(f"{node}{kind}" for node in NODES for kind in ("Connection", "Edge"))
DEEPEST = 7
ALIASES = [
    *("r", "_0", "_1", "_2", "a", "A", "b"),
    *("select", "from", "order", "user", "null", "json", "class", "None", "def", "self", "lambda"),
    *("id", "title", "author", "posts", "comments", "body", "pk", "key"),  # names of other fields
    *("x" * 63, "x" * 63 + "a", "x" * 63 + "b", "y" * 200),  # PostgreSQL truncates names after 63 bytes
]
TYPES = {  # of the variables; the ids, limits and switches are declared where they are used
    "postId": "ID!",
    "ids": "[ID!]!",
    "authorId": f'ID = "{IDA}"',
    "limit": "Int",
    "few": "Int = 2",
    "status": "PostStatus",
    "published": "PostStatus = published",
    "first": "Int",
    "last": "Int",
    "cursor": "String",
    "filter": "PostFilter",
    "order": "PostOrder",
    "wayOfComments": "CommentOrder = createdAtAsc",
    "sort": "PostSort",
    "sortField": "PostSortField!",
    "sortDirection": "SortDirection! = desc",
    "yes": "Boolean!",
    "perhaps": "Boolean = true",
    "input": "CreatePostInput!",
}
NODE_IDS = [*map(str, [*POSTS, *AUTHORS, *USERS.values(), *ORDERS]), str(FIRST + 1000), str(FIRST + 998)]
IDS_OF = {  # of the rows that a field finds by id
    "post": POSTS, "author": AUTHORS, "user": list(USERS.values()), "order": ORDERS,
    "comment": [FIRST + 1000 - place for place in range(14)],
}  # fmt: skip
IDS = st.sampled_from([*map(str, POSTS), *map(str, AUTHORS), "0", "no id", "", str(2**63)])
SORT_FIELDS = st.just("createdAt")
SORT_DIRECTIONS = st.sampled_from(["asc", "desc"])
STATES = st.sampled_from(["draft", "scheduled", "published", "archived"])
MONTH = {"createdFrom": MOMENT.replace(day=1), "createdBefore": MOMENTS[3]}
FILTERS: list[dict[str, Any]] = [
    *({}, {"status": "published"}, {"status": "draft"}, {"tag": "plain"}, {"author": str(IDA)}, MONTH),
    {"tag": TEXTS[1], "author": str(BO), "status": "published", **MONTH},
    *({"author": "none"}, {"tag": None, "status": None}, {"createdBefore": MOMENT}),
]
INPUTS = st.fixed_dictionaries(
    # A title without letters would cost another statement: its slug contains the id.
    {
        "title": st.sampled_from(TEXTS[:-1]).map("Title {}".format),
        "body": st.sampled_from(TEXTS),
        "authorId": st.just(str(IDA)),
    },
    optional={"tags": st.none() | st.just([text.strip() for text in TEXTS[:3]])},
) | st.fixed_dictionaries(
    {
        "title": st.just("later"),
        "body": st.just(""),
        "authorId": st.just(IDA),
        "status": st.just("scheduled"),
        "publishAt": st.just(LATER.isoformat()),
    }
)
