"""The images of imported and exported files: paths become ids and back, and importing an export changes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from threading import Event
from typing import Any

import pytest

from blog import services
from blog.files import exporting, importing, reading
from blog.files.importing import ImportOutcome
from blog.models import Image, Post
from blog.services import image_processing
from contentapi.core.identity import OPERATOR, WORKER
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import make_files
from tests.image_files import make_jpeg, make_png

pytestmark = pytest.mark.usefixtures("media")

TEXT = """+++
title = "Boats"
{front}
+++
![One](boat.jpg) and ![again](./boat.jpg "Title")

![Two](/images/quay.png) ![Copy](copy.jpg)
![Remote](https://www.example.com/a.png) ![Missing](missing.png) ![No image](post.md)

```
![Code](boat.jpg)
```
<img src="boat.jpg" alt="Three">
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "static/images").mkdir(parents=True)
    (folder / "boat.jpg").write_bytes(make_jpeg())
    (folder / "copy.jpg").write_bytes(make_jpeg())
    (folder / "static/images/quay.png").write_bytes(make_png())
    return folder


def import_site(folder: Path, front: str | None = "", *, dry_run: bool = False) -> ImportOutcome:
    if front is not None:
        (folder / "post.md").write_text(TEXT.format(front=front))
    files = reading.find_markdown_files([folder], "site")
    (report,) = importing.import_files(actor=OPERATOR, files=files, dry_run=dry_run)
    assert report.reason == ""
    return report.outcome


def test_local_images_are_imported_once_for_equal_bytes(site: Path) -> None:
    assert import_site(site) == ImportOutcome.CREATED

    boat, quay = Image.objects.order_by("pk")
    body = Post.objects.get().body
    assert (boat.name, quay.name) == ("boat.jpg", "quay.png")
    assert body == (
        f'![One](image:{boat.pk}) and ![again](image:{boat.pk} "Title")\n\n'
        f"![Two](image:{quay.pk}) ![Copy](image:{boat.pk})\n"
        "![Remote](https://www.example.com/a.png) ![Missing](missing.png) ![No image](post.md)\n\n"
        "```\n![Code](boat.jpg)\n```\n"
        f'<img src="image:{boat.pk}" alt="Three">\n'
    )


@pytest.mark.parametrize(
    ("front", "alt"),
    [
        ('cover = "boat.jpg"', None),
        ('image = "boat.jpg"', None),
        ('featured_image = "/boat.jpg"', None),
        ('og_image = "boat.jpg"', None),
        ('[cover]\nimage = "boat.jpg"\nalt = "A boat"', "A boat"),
    ],
)
def test_image_of_the_front_matter_is_the_cover(site: Path, front: str, alt: str | None) -> None:
    import_site(site, front)

    post = Post.objects.get()
    assert (post.cover_id, post.cover_alt) == (Image.objects.get(name="boat.jpg").pk, alt)


def test_dry_run_stores_no_image(site: Path, media: FolderStorage) -> None:
    import_site(site, dry_run=True)

    assert not Image.objects.exists()
    assert list(media.list_files()) == []


def test_path_out_of_the_folder_is_no_image(site: Path) -> None:
    (site.parent / "secret.jpg").write_bytes(make_jpeg())
    (site / "link.jpg").symlink_to(site.parent / "secret.jpg")
    (site / "boat.jpg").unlink()
    (site / "copy.jpg").unlink()

    import_site(site, 'cover = "../secret.jpg"\nimage = "link.jpg"')

    assert [image.name for image in Image.objects.all()] == ["quay.png"]


TABLE = '[cover]\nimage = "boat.jpg"\nalt = "A boat"\ncaption = "At the quay"'


@pytest.mark.thorough
@pytest.mark.parametrize("front", ['cover = "boat.jpg"', TABLE])
def test_import_of_an_export_changes_nothing(site: Path, tmp_path: Path, front: str) -> None:
    import_site(site, front)
    services.image_processing.process_images(actor=WORKER, stop=Event())
    exported, again = tmp_path / "export", tmp_path / "again"
    before = Post.objects.get()

    outcomes = []
    for folder in (exported, again):
        folder.mkdir()
        list(exporting.export_posts(actor=OPERATOR, directory=folder))
        (file,) = folder.glob("*.md")
        file.rename(folder / "post.md")
        outcomes.append(import_site(folder, None))

    assert outcomes == [ImportOutcome.UPDATED, ImportOutcome.UNCHANGED]
    after = Post.objects.get()
    assert (after.body, after.cover_id, after.cover_alt) == (before.body, before.cover_id, before.cover_alt)
    assert Image.objects.count() == 2
    names = [f"{image.pk}{Path(image.name).suffix}" for image in Image.objects.order_by("pk")]
    assert sorted(path.name for path in (exported / "images").iterdir()) == sorted(
        [*names, *(f"{name}.json" for name in names)]
    )


TEXTS = {"name": "harbour.jpg", "alt": "Boats", "caption": "At dusk", "credit": "Ines Falk"}


def test_images_of_an_export_say_the_same_in_another_database(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep_source(source: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any]:
        result = make_files(source, folder, may_continue)
        copyfile(source, folder / result["files"][0])
        return result

    monkeypatch.setattr(image_processing, "process_file", keep_source)
    import_site(site)
    services.image_processing.process_images(actor=WORKER, stop=Event())
    boat = Image.objects.get(name="boat.jpg")
    changes = {**TEXTS, "focal_point": {"x": 0.25, "y": 0.75}}
    services.edit_image(actor=OPERATOR, image_id=str(boat.pk), changes=changes)
    folder = tmp_path / "export"
    folder.mkdir()
    list(exporting.export_posts(actor=OPERATOR, directory=folder))
    Image.objects.all().delete()

    import_site(folder, None)

    (imported,) = Image.objects.filter(name="harbour.jpg")
    assert {name: getattr(imported, name) for name in TEXTS} == TEXTS
    assert (imported.focal_x, imported.focal_y) == (0.25, 0.75)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        '{"alt": "Boats"}',
        json.dumps({**TEXTS, "alt": "x" * 501, "focalPoint": {"x": 0, "y": 0}}),
        json.dumps({**TEXTS, "focalPoint": {"x": 0}}),
        json.dumps({**TEXTS, "focalPoint": {"x": 0, "y": 9}}),
    ],
)
def test_file_that_does_not_describe_an_image_is_ignored(site: Path, content: str) -> None:
    (site / "boat.jpg.json").write_text(content)

    import_site(site)

    assert Image.objects.get(name="boat.jpg").alt == ""
