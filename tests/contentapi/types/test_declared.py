"""The own types of an SDL, and the sentence that refuses a declaration."""

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from contentapi.conf.content_apps import RESOURCES, OwnAccess, find_own_access
from contentapi.core.identity import OWN_TYPES, Scope
from contentapi.types.declared import list_targets, load_own_types, read_own_types
from contentapi.types.fields import Kind, SdlError, convert_to_snake
from tests.contentapi.types.sdl import RECIPE, RELATED, write_schema

STEP = """
type Step implements Node @type(app: "steps", read: {read}, write: editor, publication: {publication}) {{
  id: ID! text: String! recipe: Recipe publishedAt: DateTime createdAt: DateTime! updatedAt: DateTime! version: String!
}}
"""


def test_type_has_what_its_declaration_says(tmp_path: Path) -> None:
    (recipe,) = read_own_types(write_schema(tmp_path), RELATED)

    assert (recipe.name, recipe.singular, recipe.plural, recipe.app) == ("Recipe", "recipe", "recipes", "recipes")
    assert (recipe.read, recipe.write, recipe.has_publication) == ("public", "author", True)
    assert recipe.description == "A dish, and how to cook it."
    assert recipe.place == "schema/recipes.graphql: Recipe"
    assert [field.name for field in recipe.fields] == [
        "title", "servings", "steps", "course", "tags", "cover", "related", "author",
    ]  # fmt: skip
    assert [field.name for field in recipe.relations] == ["cover", "related", "author"]


def test_fields_have_their_kinds_and_limits(tmp_path: Path) -> None:
    (recipe,) = read_own_types(write_schema(tmp_path), RELATED)
    title, servings, _, course, tags, cover, related, author = recipe.fields

    assert (title.kind, title.max_length, title.is_required, title.is_list) == (Kind.TEXT, 200, True, False)
    assert (servings.kind, servings.minimum, servings.maximum) == (Kind.INT, 1, 100)
    assert (course.kind, course.type_name, course.values) == (Kind.ENUM, "Course", ("starter", "main", "dessert"))
    assert (tags.kind, tags.is_list, tags.is_required, tags.max_items, tags.max_length) == (
        Kind.TEXT, True, False, 100, 1000,
    )  # fmt: skip
    assert (cover.kind, cover.type_name, cover.is_required, cover.column, cover.input_name) == (
        Kind.RELATION, "Image", False, "cover", "coverId",
    )  # fmt: skip
    assert (related.is_list, related.column, related.input_name) == (True, "related_ids", "relatedIds")
    assert (author.is_required, author.input_name) == (True, "authorId")
    assert recipe.find_field("steps") is recipe.fields[2]
    assert recipe.find_field("colour") is None


def test_enum_is_not_named_like_what_the_module_of_the_model_imports(tmp_path: Path) -> None:
    for name in ["Value", "Q", "models", "Recipe", "Meta"]:
        text = RECIPE.replace("Course", name)
        if name == "Recipe":  # an enum and a type with one name
            text = RECIPE.replace("Course!", "Coalesce!").replace("enum Course", "enum Coalesce")

        with pytest.raises(SdlError, match=r"Recipe\.course: the enum needs another name than \w+\."):
            read_own_types(write_schema(tmp_path, text), RELATED)


def test_parenthesis_of_a_declaration_may_follow_a_space(tmp_path: Path) -> None:
    (recipe,) = read_own_types(write_schema(tmp_path, RECIPE.replace("@type(", "@type\n  (")), RELATED)

    assert [*find_own_access(recipe.file.parent)] == [OwnAccess("recipes", "public", "author")]


def test_start_ignores_declarations_that_the_check_refuses(tmp_path: Path) -> None:
    texts = [RECIPE.replace("read: public", "read: everyone"), RECIPE.replace("app:", 'plural: "users", app:')]
    folder = write_schema(tmp_path, *texts[:1], users=texts[1])

    assert [*find_own_access(folder)] == []


def test_resources_of_the_server_are_known_by_their_scopes() -> None:
    own = {access.path for access in OWN_TYPES}

    assert {scope.partition(":")[0] for scope in Scope} - own == {*RESOURCES}


def test_defaults_of_a_declaration(tmp_path: Path) -> None:
    declaration = RECIPE[RECIPE.index("@type(") : RECIPE.index(" {")]
    text = RECIPE.replace(declaration, '@type(app: "kitchen", plural: "dishes")').replace("publishedAt", "cookedAt")
    (recipe,) = read_own_types(write_schema(tmp_path, text), RELATED)

    assert (recipe.app, recipe.plural, recipe.read, recipe.write) == ("kitchen", "dishes", "public", "editor")
    assert not recipe.has_publication
    assert recipe.find_field("cookedAt")


def test_names_in_capitals_are_words(tmp_path: Path) -> None:
    (faq,) = read_own_types(write_schema(tmp_path, RECIPE.replace("type Recipe", "type FAQEntry")), RELATED)

    assert (faq.singular, faq.plural, faq.path, faq.noun) == ("faqEntry", "faqEntrys", "faq-entrys", "faq entry")


def test_own_types_relate_to_each_other(tmp_path: Path) -> None:
    step = STEP.format(read="staff", publication="false").replace("publishedAt", "cookedAt")
    recipe = RECIPE.replace("cover: Image", "cover: Image first_: Int best: Recipe").replace("first_: Int", "")
    types = read_own_types(
        write_schema(tmp_path, recipe, steps=step.replace("recipe: Recipe", "recipe: Recipe!")), RELATED
    )

    assert [own.name for own in types] == ["Recipe", "Step"]
    assert [field.type_name for own in types for field in own.relations] == [
        "Image", "Recipe", "Post", "Author", "Recipe",
    ]  # fmt: skip


def test_files_without_own_types_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in {*settings.SCHEMA_DIR.glob("*.graphql")} - {own.file for own in load_own_types()}:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr("contentapi.types.sdl.parse", None)

    assert read_own_types(tmp_path, settings.RELATED_TYPES) == ()


def test_related_types_are_those_of_tests() -> None:
    assert settings.RELATED_TYPES == RELATED


def test_declaration_is_refused_with_the_field(tmp_path: Path) -> None:
    for old, new, message in [
        ("type Recipe", "type recipe", "recipe must be named like MenuCard."),
        ("implements Node ", "", "must implement Node, and nothing else."),
        ("  id: ID!\n", "", "needs the field id: ID!."),
        ("  id: ID!\n", "  id: ID\n", "needs the field id: ID!."),
        ("createdAt: DateTime!", "", "needs the field createdAt: DateTime!."),
        ("updatedAt: DateTime!", "", "needs the field updatedAt: DateTime!."),
        ("version: String!", "version: Int!", "needs the field version: String!."),
        ("publishedAt: DateTime", "publishedAt: DateTime!", "needs the field publishedAt: DateTime."),
        ("author: Author!", "", "has write: author, and needs the field author: Author!."),
        ("author: Author!", "author: Author", "has write: author, and needs the field author: Author!."),
        ('app: "recipes", ', "", "@type needs the argument app."),
        ('app: "recipes"', 'app: "My recipes"', "app must be a package such as recipes."),
        ("read: public", "read: all", "read must be one of public, member, staff."),
        ("write: author", "write: anyone", "write must be one of author, editor, admin."),
        ("publication: true", 'publication: "yes"', "publication must be true or false."),
        ("publication: true", "draft: true", "@type has no argument draft."),
        ("publication: true", 'publication: true, plural: "a b"', "plural must be a name such as dishes."),
        ("publication: true", "publication: false", "Recipe.publishedAt: the server uses this name."),
        ("title: String!", "Title: String!", "Recipe.Title must be named like publishedAt."),
        ("title: String!", "title(max: Int): String!", "Recipe.title must not have arguments."),
        ("title: String!", "title: Strin", "@text does not fit the type of the field."),
        ("cover: Image", "cover: Comment", "Recipe.cover: a field cannot have the type Comment."),
        ("cover: Image", "cover: ID", "Recipe.cover: a field cannot have the type ID."),
        ("cover: Image", "cover: Post!", "cover must not be required: fewer people may read each Post than Recipe."),
        ("tags: [String!]!", "tags: [String!]", "Recipe.tags is a list that can be null or contain null"),
        ("tags: [String!]!", "tags: [[String!]!]!", "Recipe.tags is a list that can be null or contain null"),
        ("@text(maxLength: 200)", "@text(max: 200)", "Recipe.title: @text has no argument max."),
        ("@text(maxLength: 200)", '@text(maxLength: "long")', "the argument maxLength of @text must not be 'long'."),
        ("@text(maxLength: 200)", "@text(maxLength: true)", "the argument maxLength of @text must not be True."),
        ("@text(maxLength: 200)", "@text(maxLength: 0)", "Recipe.title: maxLength must be from 1 to 1,000,000."),
        ("@text(maxLength: 200)", "@number(minimum: 1)", "Recipe.title: @number does not fit the type of the field."),
        ("@text(maxLength: 200)", "@own", "Recipe.title must not have @own."),
        ("tags: [String!]!", "tags: [String!]! @text(sort: true)", "Recipe.tags: sort does not fit the type"),
        ("String! @text(maxLength: 200)", "String @text(sort: true)", "title: sort needs a field that is not null."),
        ("minimum: 1,", "minimum: 101,", "Recipe.servings: minimum is greater than maximum."),
        ("minimum: 1,", "minimum: 0.5,", "Recipe.servings: the limits of an Int are whole numbers of 32 bits."),
        ("steps: String!", "class: String!", "Recipe.class: the name is a reserved word of Python."),
        ("steps: String!", "order: String!", "Recipe.order: the name is a reserved word of SQL."),
        ("steps: String!", "fullClean: String!", "Recipe.fullClean: Django's models have this name."),
        ("steps: String!", "shardKey: String!", "Recipe.shardKey: the server uses this name."),
        ("steps: String!", "fields: String!", "Recipe.fields: the server uses this name."),
        ("cover: Image", "tag: Boolean", "Recipe.tag: another field needs the name tag too."),
        ("steps: String!", "self: String!", "Recipe.self: the server uses this name."),
        ("steps: String!", f"{'s' * 61}: String!", "name of its column has more than 60 characters"),
        ("steps: String!", "coverId: String!", "Recipe.cover: another field needs the name coverId too."),
        ("steps: String!", "aB: String! a_b: String!", "Recipe.a_b must be named like publishedAt."),
        ("type Recipe", "type Announcement", "Announcement: this name is taken by the code of a model."),
        ('app: "recipes"', 'app: "import"', "the app cannot be named import, which is a reserved word."),
        ("enum Course {", "enum Course", "schema/recipes.graphql is not SDL: Syntax Error: "),
        ("read: public", "read: staff", "Recipe has read: staff and write: author: authors could not read their own."),
        ("publication: true", 'publication: true, plural: "users"', "the paths of users belong to the server"),
        ("publication: true", 'publication: true, plural: "docs"', "the paths of docs belong to the server"),
        ("publication: true", 'publication: true, plural: "recipe"', "the plural must differ from recipe."),
        ("read: public", "read: member # read: public\n", "Recipe: write @type(…) without comments, at"),
        ("minimum: 1,", "minimum: 1e999,", "Recipe.servings: the limits must be finite numbers."),
        ("maximum: 100", f"maximum: 1{'0' * 400}", "Recipe.servings: the limits must be finite numbers."),
        ("starter main", "starter Starter main", "course: two values of Course differ in upper and lower case only."),
        ("starter main", "_first main", "Recipe.course: a value of Course must begin with a letter."),
        ("steps: String!", "list: String!", "Recipe.list: the server uses this name."),
        ("steps: String!", "models: String!", "Recipe.models: the server uses this name."),
        ("steps: String!", "actor: String!", "Recipe.actor: the server uses this name."),
        ("steps: String!", "provided: String!", "Recipe.provided: the server uses this name."),
        ("steps: String!", "own: String!", "Recipe.own: the server uses this name."),
        ("cover: Image", "cover: Recipe!", "Recipe.cover must not be required: no first Recipe could be created."),
    ]:  # fmt: skip
        assert old in RECIPE

        with pytest.raises(SdlError) as error:
            read_own_types(write_schema(tmp_path, RECIPE.replace(old, new, 1)), RELATED)

        assert str(error.value).startswith("schema/recipes.graphql")
        assert message in str(error.value)


def test_names_of_other_files_are_taken(tmp_path: Path) -> None:
    for other in [
        "extend type Query { recipe: Int }",
        "extend type Query { recipes: Int }",
        "type Mutation { publishRecipe: Int }",
        "type RecipeEdge { a: Int }",
        "enum RecipeSortField { a }",
        "input CreateRecipeInput { a: Int }",
    ]:
        with pytest.raises(SdlError, match=r"schema/recipes\.graphql: Recipe: the schema has .* already"):
            read_own_types(write_schema(tmp_path, other=other), RELATED)


def test_names_of_its_own_file_are_what_start_type_wrote(tmp_path: Path) -> None:
    assert read_own_types(write_schema(tmp_path, f"{RECIPE} extend type Query {{ recipe: Recipe }}"), RELATED)


def test_required_relation_to_what_fewer_may_read_is_refused(tmp_path: Path) -> None:
    for read, publication, field in [
        ("staff", "false", "recipe: Step!"),
        ("member", "false", "recipe: Step!"),
        ("public", "true", "recipe: Step!"),
    ]:
        step = STEP.format(read=read, publication=publication)
        step = step if publication == "true" else step.replace("publishedAt", "cookedAt")
        recipe = RECIPE.replace("cover: Image", field.replace("recipe", "step"))

        with pytest.raises(
            SdlError, match=r"Recipe.step must not be required: fewer people may read each Step than Recipe"
        ):
            read_own_types(write_schema(tmp_path, recipe, steps=step), RELATED)


def test_two_types_of_one_app_are_refused(tmp_path: Path) -> None:
    step = STEP.format(read="public", publication="true").replace('"steps"', '"recipes"')

    with pytest.raises(SdlError, match="another own type has the app recipes"):
        read_own_types(write_schema(tmp_path, steps=step), RELATED)


def test_names_of_columns() -> None:
    for name, column in [
        ("publishedAt", "published_at"),
        ("title", "title"),
        ("imageURL", "image_url"),
        ("a1B", "a_1_b"),
        ("line2", "line_2"),
    ]:
        assert convert_to_snake(name) == column


def test_readers_of_each_row_of_a_type(tmp_path: Path) -> None:
    targets = list_targets(read_own_types(write_schema(tmp_path), RELATED), RELATED)

    assert {name: target["read"] for name, target in targets.items()} == {
        "Author": "public", "Image": "public", "Post": "staff", "Recipe": "staff",
    }  # fmt: skip
