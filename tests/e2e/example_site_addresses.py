"""Checks of the example site: addresses of posts, metadata for search engines, feed and sitemap."""

import re
from datetime import datetime
from html import unescape
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import urlopen
from xml.etree import ElementTree

from playwright.sync_api import Browser, Page, expect

from tests.e2e.example_site import Site, Visit

ATOM, SITEMAP = "{http://www.w3.org/2005/Atom}", "{http://www.sitemaps.org/schemas/sitemap/0.9}"
ORIGINAL = "https://example.com/original"
KNOTS = {
    "title": "Nets & <knots>",
    "body": "* Splice\n* Mend\n\nOne knot[^1] for `a < b`.\n\n[^1]: The other one.",
    "excerpt": "Two knots & \x0b one net",
    "description": "How to “mend”.",
    "tags": ["Rope & C#", "Übung", "🪢"],
    "status": "published",
}
COPY = {"title": "A copy", "body": "Text.", "canonicalUrl": ORIGINAL, "status": "published"}


def write_posts(site: Site) -> None:
    """Add a post of two authors whose slug has changed twice, and a copy of a text from elsewhere."""
    authors = {author["name"]: author["id"] for author in site.send("/authors", method="GET")["data"]}
    written = {**KNOTS, "authorId": authors["Ines Falk"], "coauthorIds": [authors["Tomasz Wren"]]}
    post = site.send("/posts", written)
    for slug in ("mending", "mending-nets"):
        site.send(f"/posts/{post['id']}", {"slug": slug}, "PATCH")
    site.send("/posts", COPY)


def check_addresses(site: Site, browser: Browser) -> None:
    page = Visit(browser, java_script_enabled=False).page

    for old in ("nets-knots", "mending"):
        page.goto(f"{site.address}/posts/{old}/")
        page.wait_for_url(f"{site.address}/posts/mending-nets/")
    expect(page).to_have_title("Nets & <knots> · Harbour Notes")
    expect(page.locator("article header .details")).to_contain_text("By Ines Falk and Tomasz Wren,")
    expect(page.locator("article code")).to_have_text("a < b")
    assert read_metadata(page) == {
        "description": "How to “mend”.",
        "og:title": "Nets & <knots>",
        "og:description": "How to “mend”.",
        "og:type": "article",
        "og:url": f"{site.address}/posts/mending-nets/",
        "og:site_name": "Harbour Notes",
        "canonical": f"{site.address}/posts/mending-nets/",
        "alternate": "/feed.xml",
    }

    for tag, path in {"Rope & C#": "rope-c-sharp", "Übung": "übung", "🪢": "u1faa2"}.items():
        page.get_by_role("link", name=tag, exact=True).click()
        page.wait_for_url(f"{site.address}/tags/{quote(path)}/")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Posts about “{tag}”")
        expect(page.locator(".posts .excerpt")).to_contain_text("Two knots &")
        page.get_by_role("link", name="Nets & <knots>").click()
    page.get_by_role("link", name="Tomasz Wren").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Posts by Tomasz Wren")
    expect(page.locator(".posts li", has_text="Nets & <knots>")).to_have_count(1)
    page.goto(f"{site.address}/posts/a-copy/")
    assert read_metadata(page)["canonical"] == ORIGINAL


def read_metadata(page: Page) -> dict[str, str]:
    """Return what the head of a page states for search engines and cards."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('meta[property], meta[name=description], link[rel]')]"
        ".filter((e) => !['icon', 'stylesheet', 'modulepreload'].includes(e.rel))"
        ".map((e) => [e.rel ?? e.getAttribute('property') ?? e.name, e.getAttribute(e.rel ? 'href' : 'content')]))"
    )
    return found


def check_links_and_sitemap(site: Site) -> None:
    """Follow all links from the home page. The sitemap has what they reach, and no link is broken."""
    pages = site.read_pages()
    reached, found = set(), ["/"]
    while found:
        path = found.pop()
        if path not in reached:
            reached.add(path)
            links = re.findall(r"""<a [^>]*?href="(/[^"]*)\"""", pages[path])
            found += [urlsplit(unescape(link)).path for link in links if link != "/feed.xml"]
    with urlopen(f"{site.address}/robots.txt", timeout=120) as response:  # noqa: S310 - loopback
        named = re.findall(r"^Sitemap: (.*)$", response.read().decode(), re.MULTILINE)
    listed = [find_text(url, f"{SITEMAP}loc") for url in read_xml(site, "/sitemap.xml")]

    assert named == [f"{site.address}/sitemap.xml"]
    assert sorted(listed) == sorted(f"{site.address}{quote(path)}" for path in reached - {"/drafts/", "/posts/a-copy/"})
    redirects = {"/posts/nets-knots/", "/posts/mending/"}
    assert set(pages) - reached == {"/404.html", *redirects}


def check_feed(site: Site) -> None:
    """Compare the feed with the API, by the rules of RFC 4287."""
    feed = read_xml(site, "/feed.xml")
    posts: list[dict[str, Any]] = site.send("/posts?status=published&limit=100", method="GET")["data"]
    expected = {f"tag:localhost,{post['createdAt'][:10]}:posts/{post['id']}": post for post in posts}
    entries = {find_text(entry, f"{ATOM}id"): entry for entry in feed.iter(f"{ATOM}entry")}

    assert find_text(feed, f"{ATOM}id") == f"{site.address}/"
    assert find_text(feed, f"{ATOM}title") == "Harbour Notes"
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {"self": f"{site.address}/feed.xml", "alternate": f"{site.address}/"}
    assert len(entries) == len(list(feed.iter(f"{ATOM}entry"))) == min(20, len(posts))
    assert datetime.fromisoformat(find_text(feed, f"{ATOM}updated")).tzinfo
    for name, entry in entries.items():
        check_entry(entry, expected[name], site)


def check_entry(entry: ElementTree.Element, post: dict[str, Any], site: Site) -> None:
    content = entry.find(f"{ATOM}content")
    assert content is not None
    assert content.get("type") == "html"
    assert (content.text or "") == post["bodyHtml"]
    assert [find_text(author, f"{ATOM}name") for author in entry.findall(f"{ATOM}author")] == [
        author["name"] for author in (post["author"], *post["coauthors"])
    ]
    assert [category.get("term") for category in entry.findall(f"{ATOM}category")] == post["tags"]
    assert [link.get("href") for link in entry.findall(f"{ATOM}link")] == [f"{site.address}/posts/{post['slug']}/"]
    times = {"published": "publishedAt", "updated": "updatedAt"}
    assert {name: find_text(entry, f"{ATOM}{name}") for name in times} == {
        name: post[field] for name, field in times.items()
    }
    assert find_text(entry, f"{ATOM}title") == post["title"]
    assert find_text(entry, f"{ATOM}summary") == post["excerpt"].replace("\x0b", "")  # XML has no such character


def read_xml(site: Site, path: str) -> ElementTree.Element:
    with urlopen(site.address + path, timeout=120) as response:  # noqa: S310 - loopback
        return ElementTree.fromstring(response.read())  # noqa: S314 - made by the example


def find_text(element: ElementTree.Element, name: str) -> str:
    """Return the text of the only child of this name."""
    (child,) = element.findall(name)
    return child.text or ""
