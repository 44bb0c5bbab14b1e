"""The benchmark asks ours what its schema and its limits allow, and every request is another one."""

import json
import random

import pytest
from django.conf import settings
from graphql import parse, validate

from benchmarks import memory
from benchmarks.workloads import ALL, TEXTS, Dialect, operation, variables
from contentapi.graphql.schema import SCHEMA


@pytest.mark.parametrize("workload", ALL)
def test_the_schema_allows_what_a_workload_asks(workload: str) -> None:
    body = json.loads(Dialect().body(workload, variables(workload, random.Random(1), 1), 1, "s"))  # noqa: S311

    assert validate(SCHEMA, parse(body["query"])) == []
    assert body["variables"].get("limit", 1) <= settings.ENVIRONMENT.contentapi_max_page


@pytest.mark.parametrize("number", range(50))
def test_the_schema_allows_what_the_measurement_of_memory_asks(number: int) -> None:
    assert validate(SCHEMA, parse(json.loads(memory.body(number))["query"])) == []


@pytest.mark.parametrize("workload", ALL)
def test_no_two_bodies_of_a_workload_are_alike(workload: str) -> None:
    bodies = list(Dialect().bodies(workload, "s"))

    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("workload", ["post-new", "page10-new"])
def test_the_text_is_new_in_every_request_of_a_first_request(workload: str) -> None:
    texts = {json.loads(body)["query"] for series in ("1", "2") for body in Dialect().bodies(workload, series)}

    assert len(texts) == 2 * len(list(Dialect().bodies(workload, "1")))


def test_the_other_workloads_keep_their_text() -> None:
    assert json.loads(Dialect().body("post", {"id": "1"}))["query"] == TEXTS[operation("post")]
