"""The command `start_type`: what it writes, what it leaves, and what it refuses."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import CalledProcessError
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from contentapi.management.commands import start_type
from contentapi.types.declared import load_own_types
from tests.contentapi.types.sdl import RECIPE, write_schema

MIGRATION = "('cover', ), ('author', )"
FILES = {
    "recipes/__init__.py",
    "recipes/api.py",
    "recipes/migrations/__init__.py",
    "recipes/models.py",
    "schema/recipes.graphql",
    "schema/resources/recipe.graphql",
    "tests/recipes/__init__.py",
    "tests/recipes/test_recipe.py",
}


@pytest.fixture
def project(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a project with a type. The process that would write its migration is `run`."""
    settings.BASE_DIR, settings.SCHEMA_DIR = tmp_path, write_schema(tmp_path)
    load_own_types.cache_clear()
    # This project has the type if the example was copied into it.
    monkeypatch.delitem(apps.app_configs, "recipes", raising=False)
    monkeypatch.setattr(start_type, "find_spec", lambda name: None if name == "recipes" else find_spec(name))
    # The formatter runs in another process too.
    run = Mock(side_effect=lambda command, **_: write(tmp_path, "run", " ".join(command[2:])))
    monkeypatch.setattr(start_type, "subprocess", SimpleNamespace(run=run, CalledProcessError=CalledProcessError))
    yield tmp_path
    load_own_types.cache_clear()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def read_files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_types_without_a_table_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("start_type")
    assert capsys.readouterr().out == "Recipe\n"

    write(project, "recipes/models.py", "    author = models.ForeignKey(")  # the SDL has one more relation since
    write(project, "recipes/migrations/0001_initial.py", "('author', )")
    call_command("start_type")
    assert capsys.readouterr().out == ""


def test_interrupted_second_migration_is_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("start_type", "Recipe")
    write(project, "recipes/migrations/0001_initial.py", "('author', )")  # and not yet the key `cover`
    monkeypatch.setattr(apps, "is_installed", lambda _: True)
    second = {Path("recipes/migrations/0002_initial.py"): MIGRATION}
    monkeypatch.setattr(start_type, "write_migrations", lambda names: second if names == ["recipes"] else {})

    call_command("start_type", "Recipe")

    assert (project / "recipes/migrations/0002_initial.py").read_text() == MIGRATION
    refuse(project, "Recipe exists, with all its files.")


def test_files_are_written_and_then_another_process_writes_the_migration(project: Path) -> None:
    call_command("start_type", "Recipe")

    files = read_files(project)
    assert files.keys() == {*FILES, "run"}
    assert files["run"] == "start_type Recipe"
    assert files["schema/recipes.graphql"].startswith(RECIPE.rstrip())
    assert "type RecipeConnection {" in files["schema/recipes.graphql"]


def test_second_run_writes_what_is_missing_and_nothing_else(project: Path) -> None:
    call_command("start_type", "Recipe")
    before = read_files(project)
    for name in FILES - {"recipes/models.py"}:
        (project / name).write_text(before[name] + "\n# of the team\n")
    expected = read_files(project)
    for lost in sorted(FILES - {"schema/recipes.graphql"}):
        (project / lost).unlink()
        expected[lost] = before[lost]

        call_command("start_type", "Recipe")

        assert read_files(project) == expected


def test_type_with_all_its_files_is_refused(project: Path) -> None:
    call_command("start_type", "Recipe")
    write(project, "recipes/migrations/0001_initial.py", MIGRATION)

    refuse(project, "Recipe exists, with all its files.")


def test_app_that_cannot_be_imported_is_not_installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "contentapi.management.commands.start_type.subprocess.run", Mock(side_effect=CalledProcessError(1, []))
    )
    with pytest.raises(CommandError, match=r"recipes/models\.py cannot be used"):
        call_command("start_type", "Recipe")

    assert not (project / "recipes/api.py").exists()


def test_type_that_is_not_declared_is_refused(project: Path) -> None:
    refuse(project, r"The files of schema/ have no type Dish with @type\(app: …\)\.", "Dish")


def test_declaration_that_is_wrong_is_refused(project: Path) -> None:
    write(project, "schema/recipes.graphql", RECIPE.replace("cover: Image", "cover: Picture"))

    refuse(project, "schema/recipes.graphql: Recipe.cover: a field cannot have the type Picture.")


@pytest.mark.parametrize(
    ("file", "text"),
    [("recipes/models.py", "class Dish(models.Model):"), ("recipes/models/a.py", ""), ("recipes/index.md", "")],
)
def test_app_with_other_models_is_refused(project: Path, file: str, text: str) -> None:
    write(project, file, text)

    refuse(project, "schema/recipes.graphql: Recipe: there is another package recipes; name another app.")


@pytest.mark.parametrize("app", ["json", "django", "sessions"])
def test_app_of_others_is_refused(project: Path, app: str) -> None:
    write(project, "schema/recipes.graphql", RECIPE.replace('app: "recipes"', f'app: "{app}"'))

    refuse(project, f"there is another package {app}; name another app.")


def test_relation_to_a_type_without_a_table_is_refused(project: Path) -> None:
    step = RECIPE.replace("type Recipe", "type Step").replace('"recipes"', '"steps"').split("enum")[0]
    write(project, "schema/steps.graphql", step.replace("cover: Image", "recipe: Recipe"))

    refuse(project, "schema/steps.graphql: Step.recipe leads to Recipe, which has no table: start it first.", "Step")


def test_types_that_lead_to_each_other_are_started_together(project: Path) -> None:
    write(project, "schema/recipes.graphql", RECIPE.replace("cover: Image", "step: Step"))
    step = RECIPE.replace("type Recipe", "type Step").replace('"recipes"', '"steps"').split("enum")[0]
    write(project, "schema/steps.graphql", step.replace("cover: Image", "recipe: Recipe"))
    load_own_types.cache_clear()

    call_command("start_type", "Step")

    files = read_files(project)
    assert {"recipes/api.py", "recipes/models.py", "steps/api.py", "steps/models.py"} <= files.keys()
    assert 'models.ForeignKey("steps.Step", on_delete=models.SET_NULL' in files["recipes/models.py"]
    assert files["run"] == "start_type Step"


def refuse(project: Path, message: str, name: str = "Recipe") -> None:
    load_own_types.cache_clear()
    before = read_files(project)

    with pytest.raises(CommandError, match=message):
        call_command("start_type", name)

    assert read_files(project) == before


def test_differences_are_printed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("start_type", "Recipe")
    text = (project / "schema/recipes.graphql").read_text()
    write(
        project,
        "schema/recipes.graphql",
        text.replace("  course: Course!\n", "  course: Course!\n  isHot: Boolean\n", 1),
    )
    load_own_types.cache_clear()
    capsys.readouterr()

    call_command("start_type", "Recipe", diff=True)

    printed: Any = capsys.readouterr()
    assert "# schema/recipes.graphql, CreateRecipeInput\n  isHot: Boolean\n" in printed.out
    assert printed.out.endswith("# schema/resources/recipe.graphql, RecipeResource\n  isHot\n")
    assert "schema/recipes.graphql: Recipe has no table" in printed.err
