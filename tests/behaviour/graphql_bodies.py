"""Bodies of GraphQL requests, and the reasons why they are refused."""

import json

BODY = "Invalid body: "


def build_body(text: str, query: str = "query ($a: ID!) { post(id: $a) { title } }") -> bytes:
    return f'{{"query": {json.dumps(query)}, "variables": {{"a": {text}}}}}'.encode()
