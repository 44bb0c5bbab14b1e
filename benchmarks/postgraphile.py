"""The queries for PostGraphile, which generates its schema from the tables."""

from benchmarks.workloads import Data, Dialect

NEWEST_FIRST = "orderBy: [CREATED_AT_DESC, ROW_ID_DESC]"
OLDEST_FIRST = "orderBy: [ROW_ID_ASC]"


def to_variables(operation: str, values: Data) -> Data:
    return {"input": {"post": values["input"]}} if operation == "create" else values


def from_data(operation: str, data: Data) -> Data:
    for post in data.get("posts") or []:
        post["commentCount"] = post["commentCount"]["totalCount"]
    return {"createPost": data["createPost"]["post"]} if operation == "create" else data


DIALECT = Dialect(
    {
        "post": "query post($id: BigInt!) { post(rowId: $id) { title body status author { name } } }",
        "page10": (
            "query page10($limit: Int, $status: String) {"
            f" posts: postsList(first: $limit, condition: {{status: $status}}, {NEWEST_FIRST}) {{"
            " id: rowId title createdAt tags commentCount: comments { totalCount } author { id: rowId name avatarUrl }"
            f" comments: commentsList({OLDEST_FIRST}) {{ id: rowId body author {{ name }} }} }} }}"
        ),
        "page100": (
            f"query page100($limit: Int) {{ posts: postsList(first: $limit, {NEWEST_FIRST}) {{"
            " id: rowId title body status createdAt updatedAt tags commentCount: comments { totalCount }"
            " author { id: rowId name bio avatarUrl email }"
            f" comments: commentsList({OLDEST_FIRST}) {{ id: rowId body author {{ id: rowId name }} }} }} }}"
        ),
        "create": (
            "mutation create($input: CreatePostInput!) {"
            " createPost(input: $input) { post { id: rowId title status } } }"
        ),
    },
    to_variables,
    from_data,
)
