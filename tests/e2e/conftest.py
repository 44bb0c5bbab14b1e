from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.checkout import Checkout
from tests.e2e.chromium import launch_chromium


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """A checkout whose path has a space in it; whatever still runs there at the end is stopped, by force if need be."""
    place = Checkout(tmp_path / "a checkout")
    yield place
    for run in place.runs:
        if run.process.poll() is None:
            run.interrupt()
    place.kill_everything()


@pytest.fixture
def browser() -> Iterator[Browser]:
    with launch_chromium() as browser:
        yield browser
