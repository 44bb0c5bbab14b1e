"""Checks of a page by axe-core and by the keyboard."""

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.deployment.processes import install_packages

AXE = Path(__file__).parent / "axe"
SERIOUS = {"serious", "critical"}
MOST_PARTS = 20  # of an element that has the focus several times


def install_axe(folder: Path) -> str:
    """Install axe-core in an empty folder. Return its source."""
    shutil.copytree(AXE, folder / "axe")
    install_packages(folder / "axe")
    return (folder / "axe/node_modules/axe-core/axe.min.js").read_text()


def list_serious_findings(page: Page, axe: str) -> list[str]:
    """Return the serious findings of a page whose context bypasses its policy."""
    page.evaluate(axe)
    return run_axe(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])


def list_serious_findings_of_the_desk(page: Page, axe: str) -> list[str]:
    """Return the findings of a light page of the desk, and those of its colours after a change to dark ones."""
    light = list_serious_findings(page, axe)
    page.emulate_media(color_scheme="dark")
    page.evaluate(DARKEN)
    dark = run_axe(page, {"type": "rule", "values": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    page.evaluate("document.documentElement.classList.remove('dark')")
    return light + [f"dark {finding}" for finding in dark]


# The desk chooses its colours when a page is opened. A transition would show colours between both.
DARKEN = """() => {
  const style = document.createElement("style");
  style.textContent = "* { transition: none !important }";
  document.head.append(style);
  document.documentElement.classList.add("dark");
}"""


def run_axe(page: Page, rules: list[str] | dict[str, Any]) -> list[str]:
    # Nobody reads what passes, so axe-core need not build its selectors.
    found: dict[str, Any] = page.evaluate("rules => axe.run({runOnly: rules, resultTypes: ['violations']})", rules)
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]


IDENTIFY_FOCUS = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  window.focusOrder ??= [];
  if (!window.focusOrder.includes(element)) window.focusOrder.push(element);
  return [window.focusOrder.indexOf(element), element.outerHTML.slice(0, 160)];
}"""


def find_keyboard_trap(page: Page, key: str) -> str:
    """Press a key until the focus has left the page or is at the beginning again. Return the element that holds it.

    Some elements have the focus several times: a field for a time, once for each part, and a frame.
    """
    previous, times = -1, 0
    for _ in range(1000):
        page.keyboard.press(key)
        focused = page.evaluate(IDENTIFY_FOCUS)
        if focused is None or (focused[0] == 0 and previous > 0):
            return ""
        number, html = focused
        times = times + 1 if number == previous else 0
        if number < previous or times > MOST_PARTS:
            return str(html)
        previous = number
    return "more than 1000 elements"
