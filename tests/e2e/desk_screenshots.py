"""Write the screenshots of the editors' manual: `python -m tests.e2e.desk_screenshots [PAGE…]`.

Each page of PAGES is shown in light mode, in dark mode and on a phone: docs/desk/<page>-<light|dark|phone>.webp. The
server is a demo in a temporary checkout. To add a page, add a line to PAGES, and if it needs content, to `prepare`.
"""

import base64
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page

from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import ROOT
from tests.e2e.chromium import launch_chromium
from tests.e2e.desk_pages import (
    create_preview_links,
    find_rows,
    import_site,
    log_in,
    open_changes,
    open_conflict,
    open_schedule,
    write_history,
)

FOLDER = ROOT / "docs" / "desk"
QUALITY = 60  # of WebP, in percent

PAGES = {
    "login": "/admin/login/",
    "desk": "/admin/",
    "posts": "/admin/blog/post/",
    "filters": "/admin/blog/post/?status__exact=published&tag=harbour",
    "new-post": "/admin/blog/post/add/",
    "post": "/admin/blog/post/{post}/change/",
    "changes": "/admin/blog/post/{changes}/change/",
    "states": "/admin/blog/post/{post}/change/#post-state",
    "preview-links": "/admin/blog/post/{post}/change/#preview-links",
    "history": "/admin/blog/post/{post}/history/",
    "differences": "/admin/blog/post/{post}/history/2/",
    "deleted-posts": "/admin/blog/post/deleted/",
    "comments": "/admin/blog/comment/",
    "comment": "/admin/blog/comment/{comment}/change/",
    "authors": "/admin/blog/author/",
    "images": "/admin/blog/image/",
    "image": "/admin/blog/image/{image}/change/",
    "imports": "/admin/blog/importjob/",
    "import-upload": "/admin/blog/importjob/add/",
    "import-plan": "/admin/blog/importjob/{plan}/change/",
    "import-report": "/admin/blog/importjob/{report}/change/",
    "keys": "/admin/users/apikey/",
    "new-key": "/admin/users/apikey/add/",
    "users": "/admin/users/user/",
    "user": "/admin/users/user/{user}/change/",
    "webhooks": "/admin/events/webhook/",
    "webhook": "/admin/events/webhook/{webhook}/change/",
    "delivery": "/admin/events/webhook/{webhook}/deliveries/{failed}/",
    "orders": "/admin/orders/order/",
    "order": "/admin/orders/order/{order}/change/",
    "applications": "/admin/oauth2_provider/application/",
    "new-secret": "/admin/oauth2_provider/application/{application}/act/renew-secret/",
    # Pages that follow a form: `show_pages` sends it
    "schedule": "/admin/blog/post/",
    "conflict": "/admin/blog/post/{conflict}/change/",
}
SHOWS_FILTERS = {"filters"}


# Deliveries of a day, most of which have arrived. Prints the id of one that has not.
WRITE_DELIVERIES = """
from datetime import timedelta
from django.utils import timezone
from contentapi.events.models import Event
from contentapi.events.webhooks.models import Attempt, Delivery, Webhook
now, webhook = timezone.now(), Webhook.objects.get()
event = Event.objects.filter(type="post.created").latest("position")
for number in range(260):
    made = now - timedelta(minutes=number * number % 1381)
    is_failed = number % 17 == 3
    values = {"state": "failed" if is_failed else "delivered", "status": 503 if is_failed else 204, "attempts": 1}
    values["error"] = "The receiver answered 503." if is_failed else ""
    values |= {"subject_id": event.subject_id, "position": event.position, "finished_at": made}
    values |= {"type": ["post.updated", event.type][number % 2], "message_id": f"evt_{2000 - number}_1f0c5a3e"}
    delivery = Delivery.objects.create(webhook=webhook, day=now.date(), created_at=made, **values)
    response = "The index is being rebuilt." if is_failed else ""
    attempt = {"status": values["status"], "error": values["error"], "response": response, "started_at": made}
    Attempt.objects.create(delivery=delivery, day=now.date(), number=1, seconds=0.043, **attempt)
print("failed", Delivery.objects.filter(state="failed", type=event.type).latest("created_at").pk)
"""


class Form(NamedTuple):
    """How a page is shown: the colour scheme, and the size of the window."""

    scheme: Any
    width: int
    height: int


FORMS = {"light": Form("light", 1280, 800), "dark": Form("dark", 1280, 800), "phone": Form("light", 390, 844)}


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.e2e.desk_screenshots", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="a name of PAGES; default: all pages")
    chosen = parser.parse_args().pages or list(PAGES)
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, launch_chromium() as browser:
        checkout = Checkout(Path(folder) / "checkout")
        try:
            run = checkout.run().wait_until_ready()
            ids = prepare(browser, run, checkout)
            for name, form in FORMS.items():
                show_pages(browser, run, checkout, name, form, {page: PAGES[page].format(**ids) for page in chosen})
        finally:
            for each in checkout.runs:
                each.interrupt()
            checkout.kill_everything()
    total = sum(file.stat().st_size for file in FOLDER.iterdir())
    sys.stdout.write(f"{len(chosen) * len(FORMS)} screenshots; {FOLDER} has {total:,} bytes.\n")
    return 0


def prepare(browser: Browser, run: Run, checkout: Checkout) -> dict[str, str]:
    """Make the content that the pages show. Return the ids in their addresses."""
    page = browser.new_page()
    log_in(page, run, checkout)
    post = write_history(page, run)
    create_preview_links(page, run, post)
    ids = import_site(page, run, checkout.folder) | find_rows(page, run)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    page.locator("#result_list tbody th a").last.click()
    ids["conflict"] = page.url.split("/")[-3]
    open_changes(page, run)
    ids["changes"] = page.url.split("/")[-3]
    page.close()
    written = checkout.manage("shell", given=WRITE_DELIVERIES)
    return {"post": post, **ids, "failed": written.stdout.split()[-1]}


def show_pages(browser: Browser, run: Run, checkout: Checkout, form: str, size: Form, pages: dict[str, str]) -> None:
    viewport: Any = {"width": size.width, "height": size.height}
    context = browser.new_context(color_scheme=size.scheme, viewport=viewport, locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    if "login" in pages:
        page.goto(f"http://localhost:{run.port}{pages['login']}")
        write_screenshot(page, f"login-{form}")
    log_in(page, run, checkout)
    for name, path in pages.items():
        if name == "login":
            continue
        if name == "schedule":
            open_schedule(page, run)
        elif name == "conflict":
            open_conflict(page, run, path.split("/")[-3])
        else:
            page.goto(f"http://localhost:{run.port}{path}")
        if name in SHOWS_FILTERS:
            page.get_by_role("button", name="Filters").click()
            page.locator("#changelist-filter").wait_for()
        write_screenshot(page, f"{name}-{form}")
    context.close()


def write_screenshot(page: Page, name: str) -> None:
    page.wait_for_load_state("load")
    if page.locator(".writing-preview").is_visible():
        page.frame_locator(".writing-preview iframe").locator("article").wait_for()
    page.wait_for_timeout(500)  # animations of the theme
    options = {"format": "webp", "quality": QUALITY}
    found = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)
    (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(found["data"]))


if __name__ == "__main__":
    sys.exit(main())
