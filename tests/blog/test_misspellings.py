"""Misspelled words are found by a PostgreSQL that has pg_trgm. The embedded one has not: these tests start another."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = str(max(Path("/usr/lib/postgresql").glob("*/bin"), default=""))
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not PROGRAMS, reason="needs a PostgreSQL with pg_trgm, such as Debian's package postgresql"),
]
SEARCH = """
import json, sys
from blog import selectors, services
from blog.indexing import SearchIndexer
from blog.selectors import PostCriteria
from contentapi.core.identity import ANONYMOUS, OPERATOR
from tests.factories import make_author
author = str(make_author().pk)
for title, status in (("The lighthouse keeper", "published"), ("Receive a letter", "published"),
                      ("A secret zeppelin", "draft")):
    services.create_post(actor=OPERATOR, author_id=author, title=title, body="text", status=status)
SearchIndexer().update(actor=OPERATOR)
def find(actor, text):
    return [post.title for post in selectors.select_posts(actor, PostCriteria.parse(search=text)).queryset()]
actors = {"anonymous": ANONYMOUS, "operator": OPERATOR}
print(json.dumps([find(actors[actor], text) for actor, text in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Yield the environment of a process whose database is on a new server."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [f"{PROGRAMS}/{program}", "--pgdata", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, user=user, stdout=subprocess.DEVNULL, cwd=folder)

    run("initdb", "--username", "postgres", "--auth", "trust", "--no-sync", "--encoding", "UTF8")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    run("pg_ctl", "--wait", "--log", str(folder / "log"), "--options", options, "start")
    try:
        yield os.environ | {
            "DATABASE_URL": f"postgresql://postgres@/postgres?host={folder}",
            "SECRET_KEY": "x" * 50,
            "JWT_SECRET": "y" * 32,
        }
    finally:
        run("pg_ctl", "--wait", "--mode", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def search(environment: dict[str, str]) -> Callable[[str, str], list[str]]:
    """Return a function that returns the titles that an actor finds with a text."""
    questions = [
        (actor, text)
        for actor in ("anonymous", "operator")
        for text in (
            "lighthouse",
            "lihgthouse",
            "recieve",
            "lihgthouse keeper",
            '"lihgthouse"',
            "zeppellin",
            "zeppelin",
            "qqqqqqq",
            "lght",
        )
    ]

    def manage(*arguments: str, given: str = "") -> str:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, check=True, env=environment, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True
        ).stdout

    manage("migrate", "--verbosity", "0")
    answers = json.loads(manage("shell", "--verbosity", "0", "--command", SEARCH, given=json.dumps(questions)))
    found = dict(zip(questions, answers, strict=True))
    return lambda actor, text: found[actor, text]


@pytest.mark.parametrize("text", ["lighthouse", "lihgthouse", "lihgthouse keeper"])
def test_misspelled_word_finds_the_post(search: Callable[[str, str], list[str]], text: str) -> None:
    assert search("anonymous", text) == ["The lighthouse keeper"]


def test_two_letters_in_the_wrong_order_find_the_post(search: Callable[[str, str], list[str]]) -> None:
    assert search("anonymous", "recieve") == ["Receive a letter"]


@pytest.mark.parametrize("text", ['"lihgthouse"', "qqqqqqq"])
def test_phrase_and_unlike_word_find_nothing(search: Callable[[str, str], list[str]], text: str) -> None:
    assert search("anonymous", text) == []


def test_words_of_hidden_posts_are_not_suggested(search: Callable[[str, str], list[str]]) -> None:
    """The word of a draft is found as it is written, by those who see the draft."""
    assert search("operator", "zeppelin") == ["A secret zeppelin"]
    assert search("operator", "zeppellin") == search("anonymous", "zeppelin") == []
