"""Chromium for the tests of pages and for the programs that make screenshots."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
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


def kill_browser(profile: Path) -> None:
    """Kill the processes of the browser that uses this profile, as a power cut would, and wait for their ends."""
    killed = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(str(profile) in argument for argument in process.cmdline()):
                process.kill()
                killed.append(process)
    psutil.wait_procs(killed, timeout=10)


def wait_until_on_disk(page: Page, profile: Path, text: str) -> None:
    """Wait until Chromium has written the text: after five seconds, or a minute after another write of the storage."""
    encoded = [text.encode(), text.encode("utf-16-le")]
    for _ in range(180):
        contents = [path.read_bytes() for path in profile.glob("*/Local Storage/leveldb/*.log")]
        if any(each in content for each in encoded for content in contents):
            return
        page.wait_for_timeout(1000)
    raise AssertionError(f"Chromium has not written {text!r}.")
