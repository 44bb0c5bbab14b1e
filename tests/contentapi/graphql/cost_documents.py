"""Documents whose costs are counted by hand, and their SDL, for the tests of costs."""

from ariadne import gql as sdl
from graphql import build_schema

PAGE = "{ posts(limit: 100) { title comments { body author { name } } author { name } } }"
DIRECTIVES = """
    directive @cost(weight: String!) on ARGUMENT_DEFINITION | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT
    directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!],
                        requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
"""
PAGED = build_schema(
    sdl(f"""
    {DIRECTIVES}
    type Query {{
      things(first: Int, last: Int): ThingConnection
        @listSize(assumedSize: 10, slicingArguments: ["first", "last"], sizedFields: ["edges"])
      search(first: Int = 20): ThingConnection
        @listSize(assumedSize: 30, slicingArguments: ["first"], sizedFields: ["edges"])
      any: Node
      some(ids: [ID!]!): [Node]! @listSize(slicingArguments: ["ids"])
      list(first: Int, last: Int): [Thing!] @listSize(assumedSize: 100, slicingArguments: ["first", "last"])
      unknown: [Thing]
      heavy: Heavy
      find(of: Filter, all: [Filter], text: String @cost(weight: "7")): Thing @cost(weight: "3")
    }}
    type ThingConnection {{ edges: [ThingEdge!]! info: Info! total: Int! }}
    type ThingEdge {{ node: Thing! @cost(weight: "0") other: Info! }}
    type Info {{ total: Int! slow: Int! @cost(weight: "4") }}
    interface Node {{ id: ID! next: Node }}
    interface Informed {{ info: Info! }}
    type Thing implements Node {{
      id: ID! next: Node
      parts(limit: Int = 5): [Thing!]! @listSize(assumedSize: 5, slicingArguments: ["limit"])
    }}
    type Part implements Node & Informed {{ id: ID! next: Node info: Info! }}
    type Heavy @cost(weight: "9") {{ id: ID! info: Info }}
    input Filter {{ words: String @cost(weight: "50") not: Filter id: ID }}
    """)
)
CONNECTED = """
query ($n: Int, $m: Int = 100) {
  postsConnection(first: $n) { totalCount pageInfo { endCursor } edges { cursor node { title author { name }
    commentsConnection(last: $m) { edges { node { body author { name } } } } } } }
}
"""
