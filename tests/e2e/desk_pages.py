"""The pages of the admin in Chromium, and the actions that give them content."""

from pathlib import Path
from zipfile import ZipFile

from playwright.sync_api import FilePayload, Page, expect

from tests.deployment.checkout import Checkout, Run
from tests.image_files import make_jpeg

SITE = Path(__file__).parents[1] / "blog" / "sites" / "jekyll"
WAIT = 120_000  # milliseconds: the worker begins an import after at most five seconds, and later on a busy machine
PAGES = {
    "desk": "/admin/",
    "posts": "/admin/blog/post/",
    "post": "/admin/blog/post/{post}/change/",
    "new post": "/admin/blog/post/add/",
    "deletion": "/admin/blog/post/{post}/delete/",
    "history": "/admin/blog/post/{post}/history/",
    "differences": "/admin/blog/post/{post}/history/2/",
    "earlier version": "/admin/blog/post/{post}/history/1/",
    "deleted posts": "/admin/blog/post/deleted/",
    "comments": "/admin/blog/comment/",
    "comment": "/admin/blog/comment/{comment}/change/",
    "authors": "/admin/blog/author/",
    "author": "/admin/blog/author/add/",
    "images": "/admin/blog/image/",
    "image": "/admin/blog/image/{image}/change/",
    "image upload": "/admin/blog/image/add/",
    "imports": "/admin/blog/importjob/",
    "upload": "/admin/blog/importjob/add/",
    "plan of an import": "/admin/blog/importjob/{plan}/change/",
    "report of an import": "/admin/blog/importjob/{report}/change/",
    "keys": "/admin/users/apikey/",
    "new key": "/admin/users/apikey/add/",
    "users": "/admin/users/user/",
    "new user": "/admin/users/user/add/",
    "user": "/admin/users/user/{user}/change/",
    "password of a user": "/admin/users/user/{user}/password/",
    "applications": "/admin/oauth2_provider/application/",
    "new application": "/admin/oauth2_provider/application/add/",
    "application": "/admin/oauth2_provider/application/{application}/change/",
    "new secret": "/admin/oauth2_provider/application/{application}/act/renew-secret/",
    "webhooks": "/admin/events/webhook/",
    "new webhook": "/admin/events/webhook/add/",
    "webhook": "/admin/events/webhook/{webhook}/change/",
    "replay of a webhook": "/admin/events/webhook/{webhook}/act/replay/",
    "deliveries": "/admin/events/webhook/{webhook}/deliveries/",
    "delivery": "/admin/events/webhook/{webhook}/deliveries/{delivery}/",
    "orders": "/admin/orders/order/",
    "order": "/admin/orders/order/{order}/change/",
    "shipping": "/admin/orders/order/{order}/act/ship/",
    "password": "/admin/password_change/",
    "not found": "/admin/nothing/",
}


def log_in(page: Page, run: Run, checkout: Checkout) -> None:
    send_login(page, f"http://localhost:{run.port}", checkout.folder / "var")


def send_login(page: Page, origin: str, var: Path) -> None:
    """Log in as the admin of the demo, whose password is in the folder `var`."""
    page.goto(f"{origin}/admin/")
    page.get_by_label("Email").fill("admin@example.com")
    page.locator("#id_password").fill((var / "demo_password").read_text())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{origin}/admin/")


def find_post(page: Page, run: Run) -> str:
    """Return the id of the first post in the list."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    address = page.locator("a[href*='/admin/blog/post/'][href*='/change/']").first.get_attribute("href") or ""
    return address.rstrip("/").split("/")[-2]


def write_history(page: Page, run: Run) -> str:
    """Delete the first post of the list, and change the next one. Return the id of the latter."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/{find_post(page, run)}/delete/")
    page.get_by_role("button", name="Yes").click()
    post = find_post(page, run)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/{post}/change/")
    page.locator("#id_title").fill("New title")
    page.locator("#id_body").fill("New text.")
    page.locator("#submit-row [name=_save]").click()
    page.wait_for_url(f"http://localhost:{run.port}/admin/blog/post/")
    return post


def create_preview_links(page: Page, run: Run, post: str) -> None:
    """Create two links of a post for reviewers."""
    for days, note in (("7", "For the harbour master"), ("30", "For the translator")):
        page.goto(f"http://localhost:{run.port}/admin/blog/post/{post}/change/")
        page.get_by_label("Valid for").select_option(days)
        page.get_by_label("Note", exact=True).fill(note)
        page.get_by_role("button", name="Copy link for a reviewer").click()
        expect(page.locator("[data-preview-link] code")).to_be_visible()


def open_changes(page: Page, run: Run) -> None:
    """Save changes of a published post, and open its form."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/?status__exact=published")
    page.locator("#result_list tbody th a").first.click()
    path = page.url
    page.locator("#id_title").fill("Changed title")
    page.get_by_role("button", name="Save changes").click()
    page.wait_for_url("**/admin/blog/post/?*")
    page.goto(path)
    expect(page.get_by_role("button", name="Discard the changes")).to_be_visible()


def build_payload(name: str) -> FilePayload:
    return {"name": name, "mimeType": "image/jpeg", "buffer": make_jpeg()}


def upload_image(page: Page, run: Run, name: str) -> str:
    """Upload an image. Leaves its page open, which the worker has processed. Return its id."""
    page.goto(f"http://localhost:{run.port}/admin/blog/image/add/")
    page.locator("#id_file").set_input_files([build_payload(name)])
    expect(page.locator(".upload-status")).to_have_text("Uploaded.")
    page.goto(f"http://localhost:{run.port}/admin/blog/image/?q={name}")
    page.locator("#result_list a[href*='/change/']").first.click()
    expect(page.locator(".focal-stage img")).to_be_visible(timeout=WAIT)
    return page.url.split("/")[-3]


# The ids of applications are random. Show the widest one.
WIDEN_IDS = """
    for (const value of document.querySelectorAll(".readonly")) {
        if (/^[A-Za-z0-9]{40}$/.test(value.textContent.trim())) value.textContent = "W".repeat(40);
    }
"""


def find_rows(page: Page, run: Run) -> dict[str, str]:
    """Hide a comment, pay an order, register an application, upload an image, create a webhook.

    Return their ids, and that of a user.
    """
    found = {}
    for name, model in {"comment": "blog/comment", "order": "orders/order", "user": "users/user"}.items():
        page.goto(f"http://localhost:{run.port}/admin/{model}/")
        page.locator("#result_list tbody th a").first.click()
        found[name] = page.url.split("/")[-3]
        button = {"comment": "Hide", "order": "Mark as paid"}.get(name)
        if button:
            page.get_by_role("button", name=button, exact=True).click()
            page.wait_for_load_state()
    page.goto(f"http://localhost:{run.port}/admin/oauth2_provider/application/add/")
    page.locator("#id_name").fill("Harbour reader")
    page.locator("#id_redirect_uris").fill("https://reader.example.com/callback")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("body")).to_contain_text("shown this once")
    page.goto(f"http://localhost:{run.port}/admin/oauth2_provider/application/")
    page.locator("#result_list tbody th a").first.click()
    found |= {"application": page.url.split("/")[-3], "image": upload_image(page, run, "boat.jpg")}
    return found | create_webhook(page, run)


def create_webhook(page: Page, run: Run) -> dict[str, str]:
    """Create a webhook and send a ping. Return the ids of the webhook and of the delivery."""
    page.goto(f"http://localhost:{run.port}/admin/events/webhook/add/")
    page.locator("#id_name").fill("Search index")
    page.locator("#id_url").fill("https://search.example.invalid/hooks/harbour")
    page.locator("input[name=types][value='post.*']").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#secret")).to_contain_text("whsec_")
    page.get_by_role("link", name="To the webhook").click()
    page.get_by_role("button", name="Send a ping").click()
    page.get_by_role("link", name="webhook.ping").click()
    webhook, _, delivery = page.url.rstrip("/").split("/")[-3:]
    return {"webhook": webhook, "delivery": delivery}


def write_site(archive: Path) -> None:
    """Write a zip file with a site of Jekyll, and a file that is refused."""
    with ZipFile(archive, "w") as opened:
        for file in sorted(SITE.rglob("*.m*")):
            opened.write(file, f"harbour/{file.relative_to(SITE).as_posix()}")
        opened.writestr("harbour/_posts/notes.md", "A file without front matter")


def upload(page: Page, run: Run, archive: Path) -> str:
    """Upload a zip file. Return the id of the import."""
    page.goto(f"http://localhost:{run.port}/admin/blog/importjob/add/")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    page.wait_for_url("**/change/")
    return page.url.rstrip("/").split("/")[-2]


def import_site(page: Page, run: Run, folder: Path) -> dict[str, str]:
    """Import a site, and upload it again. Return the ids of the report and of the plan."""
    archive = folder / "harbour.zip"
    write_site(archive)
    report = upload(page, run, archive)
    page.get_by_role("heading", name="What would happen").wait_for(timeout=WAIT)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="The import is finished").wait_for(timeout=WAIT)
    plan = upload(page, run, archive)
    page.get_by_role("heading", name="What would happen").wait_for(timeout=WAIT)
    return {"report": report, "plan": plan}


def open_schedule(page: Page, run: Run) -> None:
    """Open the page that asks for the time of a selected post."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/?status__exact=draft")
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option("schedule")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".action-title")).to_contain_text("Schedule: 1 post")


def open_conflict(page: Page, run: Run, post: str) -> None:
    """Save a post in two pages that opened the same version. Leaves the conflict open in this page."""
    path = f"http://localhost:{run.port}/admin/blog/post/{post}/change/"
    page.goto(path)
    other = page.context.new_page()
    other.goto(path)
    for each, sentence in ((other, " Their sentence."), (page, " My sentence.")):
        body = each.locator("#id_body")
        body.fill(body.input_value() + sentence)
        with each.expect_navigation():
            each.locator("#submit-row [name=_save]").click()
    other.close()
    expect(page.locator(".page-title")).to_contain_text("has changed since you opened it")
