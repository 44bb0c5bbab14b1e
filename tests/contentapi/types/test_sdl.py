"""The SDL as a whole: what breaks a rule of GraphQL, or has no resolver, is named with its file, type and field."""

import shutil
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from django.conf import settings

from contentapi import schema
from contentapi.apps import check_sidebar
from contentapi.types.fields import SdlError
from contentapi.types.sdl import require_valid_sdl


def test_field_that_breaks_a_rule_of_graphql_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "schema"
    shutil.copytree(settings.SCHEMA_DIR, folder)
    require_valid_sdl(folder)

    for sdl, message in [
        (
            "input AInput {\n  size: Int! @number(minimum: 1)\n}",
            "AInput.size: Directive '@number' may not be used on input field definition.",
        ),
        (
            "extend type Query {\n  first: Int\n  size(a: Int): [Int!]! @listSize(size: 3)\n}",
            "Query.size: Unknown argument 'size' on directive '@listSize'.",
        ),
        ("input AInput { post: Post }", "AInput.post: The type of AInput.post must be Input Type but got: Post."),
        ("type A @type { a: Int }", "A: Argument '@type(app:)' of type 'String!' is required"),
    ]:
        (folder / "a.graphql").write_text(sdl)

        with pytest.raises(SdlError) as error:
            require_valid_sdl(folder)

        assert str(error.value).startswith(f"schema/a.graphql: {message}")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("extend type Query { size: Int }", "Query.size has no resolver."),
        ("extend type Mutation { size: Int }", "Mutation.size has no resolver."),
    ],
)
def test_root_field_without_a_resolver_is_named(monkeypatch: pytest.MonkeyPatch, more: str, message: str) -> None:
    sdl = schema.load_sdl()
    monkeypatch.setattr(schema, "load_sdl", lambda: f"{sdl}\n{more}")

    with pytest.raises(SdlError, match=f"^{message}$"):
        schema.build_schema()


def test_field_of_a_fragment_that_its_type_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "schema"
    shutil.copytree(settings.SCHEMA_DIR, folder)
    (folder / "resources" / "user.graphql").write_text("fragment UserResource on User { id size }")
    monkeypatch.setattr(settings, "SCHEMA_DIR", folder)

    with pytest.raises(SdlError, match=r"resources/user\.graphql: Cannot query field 'size' on type 'User'"):
        schema.build_schema()


def test_check_says_in_a_sentence_what_prevents_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SdlError("Query.size has no resolver.")

    monkeypatch.delitem(sys.modules, "contentapi.urls")
    monkeypatch.setattr(SourceFileLoader, "exec_module", refuse)

    assert [error.msg for error in check_sidebar()] == ["Query.size has no resolver."]
