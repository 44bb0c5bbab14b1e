"""What is wrong with the own fields of an SDL is an error that names the file, the type and the field."""

from pathlib import Path

import pytest

from contentapi.types.fields import SdlError
from contentapi.types.own_fields import OwnFields, read_files, read_own_fields

POST = """
type Post { id: ID! title: String! }
input UpdatePostInput { expectedVersion: String }
input PostFilter { tag: String }
"""


def read(folder: Path, sdl: str) -> OwnFields:
    (folder / "blog.graphql").write_text(POST)
    (folder / "own.graphql").write_text(sdl)
    own = OwnFields("Post", {}, inputs=["UpdatePostInput"], filter_input="PostFilter")
    return read_own_fields(folder, own)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("rating: Int", "rating must have @own, as each field that a team adds."),
        ("rating: Int! @own", "rating needs @own(default:), because rows exist already, or a type without !."),
        ("cover: Image @own", "cover: an own field cannot have the type Image."),
        ("title: String @own", "title: the name is taken by Post or its inputs."),
        ("expectedVersion: String @own", "expectedVersion: the name is taken by Post or its inputs."),
        ("actor: String @own", "actor: the name is taken by Post or its inputs."),
        ("tag: String @own(filter: true)", "tag: the name is taken by PostFilter or its pages."),
        ("limit: Int @own(filter: true)", "limit: the name is taken by PostFilter or its pages."),
        ("aB: Int @own a_b: Int @own", "a_b must be named like publishedAt."),
        ("rating: Int @own(largest: 3)", "rating: @own has no argument largest."),
        ("rating: Int @own(maxLength: 3)", "rating: maxLength does not fit the type of the field."),
        ("rating: Int @own(minimum: 3, maximum: 2)", "rating: minimum is greater than maximum."),
        ("a: Int @own(minimum: 3, default: 2)", "a: the default breaks a limit. The smallest value is 3 (got 2)."),
    ],
)  # fmt: skip
def test_declaration_is_refused(tmp_path: Path, field: str, problem: str) -> None:
    with pytest.raises(SdlError) as error:
        read(tmp_path, f"extend type Post {{ {field} }}")

    assert str(error.value) == f"{tmp_path.name}/own.graphql: Post.{problem}"


def test_default_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SdlError, match=r"own\.graphql: Post\.rating: the default does not fit the type"):
        read(tmp_path, 'extend type Post { rating: Int @own(default: "three") }')


def test_old_name_of_a_present_field_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SdlError, match=r"^Post\.name: was names title, which is a field too\.$"):
        read(tmp_path, 'extend type Post { name: String @own(was: "title") }')


def test_files_without_own_fields_are_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "schema.graphql").write_text("directive @own on FIELD_DEFINITION\nextend type Query { no SDL")

    assert read_files(tmp_path) == {}


def test_fields_have_the_names_of_python(tmp_path: Path) -> None:
    own = read(tmp_path, "extend type Post { isbn13: String @own eventAt: DateTime @own(filter: true) }")

    assert list(own.fields) == ["isbn_13", "event_at"]
    assert list(own.filters) == ["event_at"]


def test_name_with_another_meaning_is_refused(tmp_path: Path) -> None:
    own = read(tmp_path, "extend type Post { draft: Boolean @own }")

    with pytest.raises(SdlError, match=r"Post\.draft: an own field cannot be named like a key of front matter"):
        own.refuse_names(["Draft"], "like a key of front matter")
