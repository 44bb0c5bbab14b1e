"""Settings of rate limits, and what a response states about them."""

import re
from typing import Any

import msgspec
from pytest_django import Settings

from tests.graphql_requests import GraphQLResponse
from tests.resources import RestResponse

HELLO = {"query": "{ __typename }"}
RATE = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')
WRITE = 'mutation { createPost(input: {title: "t", body: "b"}) { id } }'


def set_limits(settings: Settings, **limits: Any) -> None:
    named = {name if name == "trusted_proxies" else f"rate_{name}": value for name, value in limits.items()}
    variables = {f"contentapi_{name}": value for name, value in named.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **variables)


def read_remaining_units(response: GraphQLResponse | RestResponse) -> dict[str, int]:
    return {name: int(remaining) for name, remaining, _ in RATE.findall(response.headers["RateLimit"])}
