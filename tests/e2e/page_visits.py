"""A visit to a page for developers in Chromium: what its console and its policy report, and which hosts it contacts."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page

LOADED = 60_000  # milliseconds until a page has loaded its editors, on a busy machine
EDITOR = ".graphiql-query-editor .monaco-editor"
WATCH = "addEventListener('securitypolicyviolation', each => console.error(`Policy: ${each.violatedDirective}`))"
FORMS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "has_touch": True},
}


class Visit:
    """A page in a context of its own. `errors` are of its console and its policy, `hosts` those it contacted."""

    def __init__(self, browser: Browser, origin: str, path: str, **context: Any) -> None:
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.page: Page = browser.new_context(**{"locale": "en-GB", "timezone_id": "UTC", **context}).new_page()
        self.page.on("console", self.record_message)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.add_init_script(WATCH)
        self.page.goto(f"{origin}{path}")
        if path == "/graphql":
            self.page.locator(EDITOR).wait_for(timeout=LOADED)
        elif path == "/docs":
            self.page.get_by_role("heading", name="Content API").wait_for(timeout=LOADED)

    def record_message(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    def write(self, editor: str, text: str) -> None:
        """Replace the text of an editor of the explorer."""
        self.page.locator(f"{editor} .view-lines").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Control+Shift+End")  # brackets that the editor has closed itself
        self.page.keyboard.press("Delete")

    def execute(self) -> Locator:
        """Execute the operation in the explorer. Return the place of the response."""
        self.page.get_by_role("button", name="Execute query").click()
        return self.page.locator(".result-window")
