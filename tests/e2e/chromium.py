"""Chromium for the tests of pages and for the programs that make screenshots."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

# Without windows, a page takes a tenth of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
NEEDS_CHROMIUM = [
    pytest.mark.servers,
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


expect.set_options(timeout=60_000)  # milliseconds, in place of five seconds; the machine may be busy


@contextmanager
def launch_chromium() -> Iterator[Browser]:
    """Yield a browser. Its sandbox needs a user other than root, which CI is; the browser opens only our own pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        yield browser
        browser.close()
