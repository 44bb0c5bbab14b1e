"""Moderation in Chromium: an editor hides, shows, deletes and restores a comment, and the public API follows."""

import json
from http.client import HTTPConnection
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import PATIENCE
from tests.e2e.chromium import NEEDS_CHROMIUM

EMAIL, PASSWORD = "edda@example.invalid", "seven harbours and a lamp"
WORDS = "Buy my lemons!"
STATE = "query ($id: ID!) { post(id: $id) { commentCount comments { body } } }"

pytestmark = NEEDS_CHROMIUM


def query(run: Run, document: str, key: str = "", **variables: Any) -> Any:
    """Return the data of a GraphQL operation."""
    headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}
    body = json.dumps({"query": document, "variables": variables}).encode()
    connection = HTTPConnection("localhost", int(run.port), timeout=PATIENCE)
    try:
        connection.request("POST", "/graphql", body, headers)
        return json.load(connection.getresponse())["data"]
    finally:
        connection.close()


def read_public_comments(run: Run, post: str) -> tuple[int, bool]:
    """Return the number of comments that everybody sees, and whether the words are among them."""
    data = query(run, STATE, id=post)["post"]
    return data["commentCount"], WORDS in [comment["body"] for comment in data["comments"]]


def create_member(checkout: Checkout, email: str, role: str, given: str = "") -> None:
    options = ["--password-stdin"] if given else []
    done = checkout.manage(
        "create_user", email, "--name", email.partition("@")[0], "--role", role, *options, given=given
    )
    assert done.returncode == 0, done.stderr


def log_in(page: Page, run: Run) -> None:
    page.goto(f"http://localhost:{run.port}/admin/")
    page.get_by_label("Email").fill(EMAIL)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"http://localhost:{run.port}/admin/")


def run_action(page: Page, action: str) -> None:
    """Select the first comment of the list and run an action of the bar."""
    page.locator("#result_list input.action-select").first.check()
    page.locator("select[name=action]").select_option(action)
    page.get_by_role("button", name="Run").click()


def test_editor_moderates_a_comment_and_the_public_api_follows(checkout: Checkout, browser: Browser) -> None:
    run = checkout.run().wait_until_ready()
    create_member(checkout, "rosa@example.invalid", "reader")
    create_member(checkout, EMAIL, "editor", given=PASSWORD)
    key = checkout.manage("create_api_key", "rosa@example.invalid", "--name", "reader").stdout.strip()
    post = query(run, "{ posts(limit: 1) { id } }")["posts"][0]["id"]
    before, _ = read_public_comments(run, post)
    add = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
    comment = query(run, add, key, input={"postId": post, "body": WORDS})["addComment"]["id"]
    assert read_public_comments(run, post) == (before + 1, True)
    page = browser.new_page()
    log_in(page, run)
    comments = f"http://localhost:{run.port}/admin/blog/comment/"

    page.goto(comments)
    run_action(page, "hide")
    expect(page.locator("body")).to_contain_text(f"“{WORDS}” was hidden.")
    assert read_public_comments(run, post) == (before, False)

    page.goto(f"{comments}?state=hidden")
    expect(page.locator("#result_list tbody")).to_contain_text("edda, in the admin")
    page.goto(f"{comments}{comment}/change/")
    expect(page.locator("textarea")).to_have_count(0)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("body")).to_contain_text(f"“{WORDS}” was shown.")
    assert read_public_comments(run, post) == (before + 1, True)

    page.goto(f"http://localhost:{run.port}/admin/blog/post/{post}/change/")
    page.get_by_role("link", name=f"Delete the comment “{WORDS}”").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("body")).to_contain_text(f"“{WORDS}” was deleted.")
    assert "/admin/blog/post/" in page.url
    assert read_public_comments(run, post) == (before, False)
    page.goto(comments)
    expect(page.locator("#result_list")).not_to_contain_text(WORDS)

    page.goto(f"{comments}?state=deleted")
    run_action(page, "restore")
    expect(page.locator("body")).to_contain_text(f"“{WORDS}” was restored.")
    assert read_public_comments(run, post) == (before + 1, True)
