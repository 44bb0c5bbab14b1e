"""The numbers of images in the metrics of the worker."""

from threading import Event

import pytest

from blog import background
from blog.services import image_figures
from contentapi.monitoring.figures import FIGURES
from contentapi.monitoring.metrics import METRICS
from tests.blog.stored_images import make_ready_image
from tests.factories import make_image


@pytest.fixture(autouse=True)
def no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "measured", {})


@pytest.mark.usefixtures("media")
def test_images_are_counted_by_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    make_ready_image(stored=70)
    make_ready_image(stored=30)
    make_image()

    background.purge_images(Event())

    assert FIGURES.measured["images"] == [
        ("contentapi_images", ("processing",), 1),
        ("contentapi_images", ("ready",), 2),
        ("contentapi_images", ("rejected",), 0),
        ("contentapi_image_bytes", (), 100),
    ]
    assert {name for name, *_ in FIGURES.measured["images"]} <= METRICS.keys()


def test_nothing_is_counted_without_metrics() -> None:
    make_image()

    image_figures.count_images()

    assert FIGURES.measured == {}
