"""The explorer in Chromium: what a person does with it, under the page's own policy."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from contentapi.frontend import build
from contentapi.graphql.explorer.page import load_examples
from tests.deployment.live_server import LiveServer, Site
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.page_visits import EDITOR, FORMS, LOADED, Visit

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not build.has_node(), reason="Node and npm are not installed, which build the explorer"),
]

STATUS = ".last-response"


def enter_credential(visit: Visit, key: str, *, keep: bool) -> None:
    if not visit.page.get_by_label("Requests carry").is_visible():
        visit.page.get_by_role("button", name="Show Credential").click()
    visit.page.get_by_label("Requests carry").select_option("API key")
    visit.page.get_by_label("API key", exact=True).fill(key)
    visit.page.get_by_label("Keep it in this tab").set_checked(keep)


def test_person_uses_the_explorer(site: Site, browser: Browser) -> None:
    with site.serve("gunicorn", CONTENTAPI_RATE_ANONYMOUS="300/minute") as server:
        use_explorer(Visit(browser, server.address, "/graphql"), site.key)


def use_explorer(visit: Visit, key: str) -> None:
    page = visit.page

    expect(visit.execute()).to_contain_text("How we name our boats")
    expect(page.locator(STATUS)).to_contain_text(re.compile(r"200 OK.*Cost \d+.*Rate \d+ of 300 left", re.DOTALL))

    visit.write(EDITOR, "{ ")
    page.keyboard.type("post")
    expect(page.locator(".suggest-widget")).to_contain_text("postsConnection", timeout=LOADED)
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Show Documentation Explorer").click()
    page.get_by_role("link", name="Query", exact=True).click()
    page.get_by_role("link", name="PostStatus", exact=True).first.click()
    expect(page.locator(".graphiql-doc-explorer")).to_contain_text("Visible to everybody.")

    enter_credential(visit, key, keep=False)
    visit.write(EDITOR, "{ viewer { role } }")
    expect(visit.execute()).to_contain_text('"role": "admin"')
    expect(page.locator(STATUS)).to_contain_text(re.compile(r"Rate [\d,]+ of 3,000 left"))

    visit.write(EDITOR, "{ nothing }")
    expect(visit.execute()).to_contain_text("Cannot query field")
    expect(page.locator(STATUS)).to_contain_text("400 Bad request")
    expect(page.locator(STATUS)).to_contain_text("Cannot query field 'nothing' on type 'Query'.")

    for dialog in ("Open settings dialog", "Open short keys dialog"):
        page.get_by_role("button", name=dialog).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
    page.wait_for_function("JSON.stringify({...localStorage}).includes('nothing')")  # GraphiQL stores the query
    assert key not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert [error for error in visit.errors if "status of 400" not in error] == []
    assert visit.hosts == {urlsplit(page.url).netloc}


def test_credential_is_kept_in_the_tab_only_if_the_user_wants_it(demo_server: LiveServer, browser: Browser) -> None:
    key = demo_server.site.key
    visit = Visit(browser, demo_server.address, "/graphql")
    page = visit.page
    shown = page.get_by_label("API key", exact=True)

    enter_credential(visit, key, keep=True)
    page.reload()
    expect(shown).to_have_value(key, timeout=LOADED)
    other_tab = page.context.new_page()
    other_tab.goto(page.url)
    expect(other_tab.get_by_label("Requests carry")).to_have_value("none", timeout=LOADED)

    page.get_by_label("Keep it in this tab").uncheck()
    page.reload()
    expect(page.get_by_label("Requests carry")).to_have_value("none", timeout=LOADED)
    assert key not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")

    enter_credential(visit, key, keep=True)
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_label("Requests carry")).to_have_value("none")
    assert page.evaluate("sessionStorage.length") == 0


# Examples whose object the example before them has used up, each with that which makes another
PREPARED = {
    "Cancel an order": ("Place an order",),
    "Discard the changes of a post": ("Change a post without publishing",),
}
WITHOUT_RESULT = {"What a preview token shows"}  # the requests of the test have none
# The examples whose object no other example makes: bytes of a file that were sent, and an image that was deleted
WITHOUT_OBJECT = {"Complete an upload", "Restore an image"}


def test_each_example_is_opened_and_executed(site: Site, browser: Browser) -> None:
    with site.serve("granian", CONTENTAPI_RATE_WRITES="6000/minute") as server:
        execute_examples(Visit(browser, server.address, "/graphql"), site.key)


def execute_examples(visit: Visit, key: str) -> None:
    page = visit.page
    enter_credential(visit, key, keep=False)
    page.get_by_role("button", name="Show Examples").click()
    failed = {}

    examples = {each["title"]: each for group in load_examples() for each in group["examples"]}
    for example in [examples[each] for title in examples for each in (*PREPARED.get(title, ()), title)]:
        page.get_by_role("button", name=example["title"]).first.click()
        name = example["query"].split()[1].split("(")[0]
        page.wait_for_function(
            "name => document.querySelector('.graphiql-query-editor').innerText.includes(name)", arg=name
        )
        expect(page.get_by_role("button", name=example["title"], pressed=True).first).to_be_visible()
        sent = f'"operationName":"{name}"'  # not a request for the schema or for ids, which may still be on its way
        with page.expect_response(lambda it: sent in (it.request.post_data or "")) as received:  # noqa: B023
            visit.execute()
        result = received.value.json()
        if example["title"] in WITHOUT_OBJECT:
            if [error["extensions"]["code"] for error in result["errors"]] != ["NOT_FOUND"]:
                failed[example["title"]] = json.dumps(result)
        elif "errors" in result or (None in result["data"].values() and example["title"] not in WITHOUT_RESULT):
            failed[example["title"]] = json.dumps(result)

    assert failed == {}
    expect(page.locator(".graphiql-tab")).to_have_count(1)  # an example replaces an example
    assert [error for error in visit.errors if "status of 404" not in error] == []


def test_phone_executes_an_example(demo_server: LiveServer, browser: Browser) -> None:
    visit = Visit(browser, demo_server.address, "/graphql", **FORMS["phone"])
    page = visit.page

    page.get_by_role("button", name="Show Examples").click()
    page.get_by_role("button", name="The caller").click()

    expect(page.locator(".panel")).to_be_hidden()  # the panel makes room for the operation
    expect(visit.execute()).to_contain_text('"viewer": null')
    expect(page.locator(STATUS)).to_be_in_viewport()
    expect(page.locator(".result-window")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert visit.errors == []


@pytest.mark.parametrize(
    ("variables", "notice"),
    [
        ({"CONTENTAPI_INTROSPECTION": "off"}, "Introspection is off"),
        ({"CONTENTAPI_DOCUMENTS": "trusted"}, "trusted documents only"),
    ],
)
def test_explorer_states_what_the_server_refuses(
    site: Site, browser: Browser, variables: dict[str, str], notice: str, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"some": "query Some { __typename }"}))

    with site.serve("granian", CONTENTAPI_DOCUMENTS_MANIFEST=str(manifest), **variables) as server:
        visit = Visit(browser, server.address, "/graphql")

        expect(visit.page.locator(".notice")).to_contain_text(notice)
        if "CONTENTAPI_INTROSPECTION" in variables:
            expect(visit.execute()).to_contain_text("How we name our boats")
        assert (visit.errors, visit.hosts) == ([], {f"localhost:{server.port}"})
