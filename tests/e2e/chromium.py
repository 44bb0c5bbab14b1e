"""Chromium for the tests of pages and for the programs that make screenshots."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

# Without windows, a page takes a tenth of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
NEEDS_CHROMIUM = [
    pytest.mark.servers,
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


PATIENCE = (
    60_000  # milliseconds, in place of 5 seconds for what is expected and 30 for actions; the machine may be busy
)
expect.set_options(timeout=PATIENCE)


@contextmanager
def launch_chromium() -> Iterator[Browser]:
    """Yield a browser. Its sandbox needs a user other than root, which CI is; the browser opens only our own pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False, timeout=PATIENCE)
        open_context = browser.new_context

        def open_patient_context(**options: Any) -> BrowserContext:
            context = open_context(**options)
            context.set_default_timeout(PATIENCE)
            return context

        browser.new_context = open_patient_context  # type: ignore[method-assign]
        yield browser
        browser.close()
