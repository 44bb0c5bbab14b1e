"""The code that `start_type` writes: that of the example, and that of other declarations."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from graphql import TypeExtensionNode, Visitor, parse, visit

from contentapi.types import generation
from contentapi.types.columns import get_name
from contentapi.types.declared import read_own_types
from contentapi.types.fields import OwnType, write_description
from contentapi.types.generation import list_files, write_file, write_sdl
from tests.contentapi.types.sdl import RECIPE, RELATED, write_schema
from tests.deployment.processes import ROOT

EXAMPLE = ROOT / "examples" / "recipes"
BY_HAND = {"api.py"}  # in the example, it names the team's own rule
CARD = """
type MenuCard implements Node @type(app: "menus", read: staff, write: editor, plural: "menuCards") {
  id: ID!
  isHot: Boolean!
  price: Float! @number(minimum: 0.5, sort: true)
  note: String @text(maxLength: 50)
  courses: [Course!]!
  levels: [Int!]! @number(maximum: 5)
  servedAt: DateTime
  mainDishOfTheDay: Recipe!
  picture: Image!
  createdAt: DateTime!
  updatedAt: DateTime!
  version: String!
}
"""
ENUM = "enum Course { starter }"


def read_types(folder: Path, **files: str) -> dict[str, OwnType]:
    return {own.name: own for own in read_own_types(write_schema(folder, **files), RELATED)}


@pytest.fixture
def card_files(tmp_path: Path) -> dict[str, str]:
    """Return the texts of the files of a type that relates to another one, by their paths."""
    recipe = (
        (EXAMPLE / "schema" / "recipes.graphql")
        .read_text()
        .replace("read: public, write: author", "read: staff, write: editor")
    )
    types = read_types(
        tmp_path, recipes=recipe.replace("publication: true", "").replace("publishedAt", "eatenAt"), menus=CARD
    )
    files = list_files(types["MenuCard"], tmp_path, [*types.values()], RELATED)
    return {str(path.relative_to(tmp_path)): text for path, text in files.items()}


def test_files_of_the_example_are_those_that_start_type_writes(tmp_path: Path) -> None:
    whole = (EXAMPLE / "schema" / "recipes.graphql").read_text()
    recipe = read_types(tmp_path, recipes=whole)["Recipe"]

    assert whole.endswith(write_sdl(recipe))
    for path, text in list_files(recipe, tmp_path, [recipe], RELATED).items():
        if path.name not in BY_HAND:
            assert (EXAMPLE / path.relative_to(tmp_path)).read_text() == text, path.name


def test_example_has_at_most_250_lines(tmp_path: Path) -> None:
    recipe = read_types(tmp_path, recipes=(EXAMPLE / "schema" / "recipes.graphql").read_text())["Recipe"]
    code = list_files(recipe, tmp_path, [recipe], RELATED).values()

    assert write_sdl(recipe).count("\n") + sum(text.count("\n") for text in code) <= 250


def test_sdl_of_the_example_describes_each_type_field_and_argument() -> None:
    document = parse((EXAMPLE / "schema" / "recipes.graphql").read_text())
    undescribed: list[str] = []

    class Descriptions(Visitor):
        def enter(self, node: Any, *_: Any) -> None:
            if hasattr(node, "description") and not isinstance(node, TypeExtensionNode):
                # GraphQL ESLint's `schema-recommended` wants blocks
                undescribed.extend([] if node.description and node.description.block else [node.name.value])

    visit(document, Descriptions())

    assert undescribed == []


def test_description_is_a_block_with_the_same_text() -> None:
    for text in ['He said "yes"', "A path such as C:\\", "long " * 20, 'two\n  lines of """ quotes']:
        (document,) = parse(f"input A {{ {write_description(text)}a: Int }}").definitions

        (field,) = document.fields  # type: ignore[attr-defined]
        assert (field.description.value, field.description.block) == (text, True)


def test_code_of_a_type_parses_and_has_short_lines(card_files: dict[str, str]) -> None:
    for path, text in card_files.items():
        assert max(map(len, text.split("\n"))) <= 120, path
        if path.endswith(".py"):
            ast.parse(text)


@pytest.mark.parametrize(
    "line",
    [
        "    is_hot = models.BooleanField()",
        "    price = models.FloatField()",
        "    note = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001 - null is no text",
        "    courses = ArrayField(models.CharField(max_length=7, choices=Course.choices), default=list, blank=True)",
        "    levels = ArrayField(models.IntegerField(), default=list, blank=True)",
        "    served_at = models.DateTimeField(null=True, blank=True)",
        '    main_dish_of_the_day = models.ForeignKey("recipes.Recipe", on_delete=models.PROTECT, related_name="+")',
        '    picture = models.ForeignKey("blog.Image", on_delete=models.PROTECT, related_name="+")',
        '            models.CheckConstraint(condition=Q(price__gte=0.5), name="menus_menucard_price_range"),',
        '                condition=Q(courses__contained_by=Course.values), name="menus_menucard_courses_known"',
        '            models.CheckConstraint(condition=Q(levels__len__lte=100), name="menus_menucard_levels_length"),',
        '            models.Index(fields=["price", "id"], name="menus_menucard_price"),',
        "            is_public=False,",
        "            has_publication=False,",
        "            has_author=False,",
        '        return f"{self.pk}"',
    ],
)
def test_model_has_the_columns_and_the_limits_of_the_sdl(card_files: dict[str, str], line: str) -> None:
    assert line in card_files["menus/models.py"].split("\n")


def test_model_without_publication_has_no_order_of_publications(card_files: dict[str, str]) -> None:
    assert "publi" not in card_files["menus/models.py"].replace("is_public", "").replace("has_publication", "")


def test_field_can_be_named_like_a_method_of_mappings_and_have_capitals(tmp_path: Path) -> None:
    own = read_types(tmp_path, recipes=RECIPE.replace("cover: Image", "items: Boolean imageURL: String"))["Recipe"]
    files = list_files(own, tmp_path, [own], RELATED)

    assert '"""Only those with this `items`.""" items: Boolean' in write_sdl(own)
    assert '"imageURL",' in files[tmp_path / "recipes/models.py"]


def test_test_makes_what_a_relation_requires(card_files: dict[str, str]) -> None:
    text = card_files["tests/menus/test_menu_card.py"]

    assert "from tests.factories import make_actor, make_image\n" in text
    assert "from tests.recipes.test_recipe import make_recipe\n" in text
    assert '"mainDishOfTheDayId": str(make_recipe().pk)' in text
    assert "(Role.AUTHOR, 403, 403)," in text
    assert "(Role.EDITOR, 201, 200)," in text


@pytest.mark.parametrize("app", ["bars", "urls"])  # before and after the packages of the server
def test_imports_are_sorted(tmp_path: Path, app: str) -> None:
    types = read_types(tmp_path, recipes=RECIPE.replace('app: "recipes"', f'app: "{app}"'))

    files = list_files(types["Recipe"], tmp_path, [*types.values()], RELATED)

    for name in (f"tests/{app}/test_recipe.py", f"{app}/api.py"):
        imports = re.findall("^from .*", files[tmp_path / name], re.MULTILINE)
        assert f"from {app}.models import Recipe" in imports
        assert imports == sorted(imports)


def test_long_names_of_indexes_end_with_a_digest(tmp_path: Path) -> None:
    recipe = read_types(tmp_path)["Recipe"]

    assert get_name(recipe, "title", most=30) == "recipes_recipe_title"
    long, other = (get_name(recipe, f"number_of_servings_{each}", most=30) for each in "ab")
    assert (len(long), long[:23], long != other) == (30, "recipes_recipe_number_o", True)


def test_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "recipes" / "models.py"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_file(path, "half")
    assert not path.exists()

    write_file(path, "whole")

    assert [each.name for each in path.parent.iterdir()] == ["models.py"]
    assert path.read_text() == "whole"


def test_migrations_of_several_apps_are_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "class Migration:\n    dependencies = [\n{}    ]\n\n    operations = [\n        {},\n    ]\n"
    needed = ["", "        ('meals', '0001_initial'),\n", ""]
    files = [("cooks", "0001_initial.py"), ("", "0002_initial.py"), ("meals", "0001_initial.py")]
    printed = "".join(
        f"{f'Migrations for {app!r}:' if app else ''}\n  {file}\n    + Add field\n"
        f"Full migrations file '{file}':\n{text.format(needed[place], place)}\n"
        for place, (app, file) in enumerate(files)
    )
    monkeypatch.setattr(generation, "call_command", lambda *_, stdout, **__: stdout.write(printed))

    found = generation.write_migrations(["cooks", "meals"])

    # After an interruption, Django could not load a migration whose dependencies are not there
    assert [*found] == [Path(app or "cooks", "migrations", file) for app, file in (files[0], files[2], files[1])]
    assert [re.findall(r"^        (\d),$", each, re.MULTILINE) for each in found.values()] == [["0"], ["2"], ["1"]]
    assert all("('events', '0001_initial')" in each and each.endswith("\n    ]\n") for each in found.values())


def test_migration_of_the_example_depends_on_migrations_that_exist() -> None:
    text = (EXAMPLE / "recipes/migrations/0001_initial.py").read_text().partition("operations")[0]
    needed = re.findall(r"\('(\w+)', '(\w+)'\)", text)

    assert {app for app, _ in needed} == {"contentapi", "events", "blog"}
    for app, name in needed:
        assert Path(apps.get_app_config(app).path, "migrations", f"{name}.py").exists()


def test_descriptions_name_the_scope_of_a_plural_with_a_digit(tmp_path: Path) -> None:
    card = read_types(
        tmp_path, recipes=CARD.replace('"menuCards"', '"menu2Cards"').replace("Recipe!", "Author!") + ENUM
    )

    assert "Requires the scope `menu2-cards:write`." in write_sdl(card["MenuCard"])
