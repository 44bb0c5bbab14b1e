"""Kill the server, the worker and its child process while clients upload, replace, delete and restore images.

Afterwards each image must be what its client has seen acknowledged, and rows and files must agree.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from itertools import chain, count, cycle
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

import psutil
from PIL import Image

from benchmarks.drill.faults import kill_and_wait, kill_master, kill_worker
from benchmarks.drill.stack import Stack

EDITORS = 3
PAUSE = 0.6  # seconds between two actions of an editor, on average
PAUSE_OF_KILLS = 0.6
SECONDS, SMALL_SECONDS = 90.0, 6.0  # of kills
TIMEOUT = 20
CHILD_PATIENCE = 2.0  # seconds until there is a child to kill
CATCH_UP_LIMIT = 600.0
WIDTHS = range(40, 1400)  # of the files in pixels: each has another one, by which it is known
SUCCESSES = (200, 201, 204)
NO_RESPONSE, REFUSED = 0, 503
REFUSALS = (REFUSED, 429)  # the second one while 20 images wait
UNFINISHED = """
    SELECT count(*) FROM blog_image
    WHERE CASE WHEN deleted_at IS NULL THEN source <> '' ELSE original <> '' END
"""
RELEASE = "WITH released AS (UPDATE blog_image SET claimed_until = NULL RETURNING id) SELECT count(*) FROM released"
NUMBERS = count()


@dataclass
class Expected:
    """What an image must be. After an action without a response, its client leaves it alone: it has several widths, or
    nobody knows whether it `exists`.
    """

    pk: str
    widths: set[int]
    exists: bool | None = True
    is_certain: bool = True


@dataclass
class Editor:
    """A client that uploads images, and replaces, deletes and restores its own."""

    stack: Stack
    stopping: Event
    rng: random.Random
    images: list[Expected] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def work(self) -> None:
        while not self.stopping.wait(self.rng.uniform(0, 2 * PAUSE)):
            mine = [image for image in self.images if image.is_certain]
            if not mine or self.rng.random() < 0.4:
                self.upload()
            else:
                self.change(self.rng.choice(mine))

    def upload(self) -> None:
        width = choose_width()
        body = self.act("upload", "POST", "/images", make_file(width), "image/jpeg")
        if body:
            self.images.append(Expected(body["id"], {width}))

    def change(self, image: Expected) -> None:
        if not image.exists:
            query = f"mutation {{ restoreImage(input: {{id: {image.pk}}}) {{ image {{ id }} }} }}"
            done = self.act("restoring", "POST", "/graphql", json.dumps({"query": query}).encode())
            image.exists = True if done is not None else None
        elif self.rng.random() < 0.4:
            done = self.act("deletion", "DELETE", f"/images/{image.pk}")
            image.exists = False if done is not None else None
        else:
            width = choose_width()
            done = self.act("replacement", "PUT", f"/images/{image.pk}/content", make_file(width), "image/jpeg")
            image.widths = {width} if done is not None else {*image.widths, width}
        image.is_certain = done is not None

    def act(self, name: str, method: str, path: str, content: bytes = b"", kind: str = "application/json") -> Any:
        """Send a request. Return the body of a success; None if there is none."""
        status, body = send(self.stack, method, path, content, kind)
        if status in SUCCESSES:
            self.done[name] += 1
            return body
        self.done["refused" if status in REFUSALS else "without a response"] += 1
        if status not in (NO_RESPONSE, *REFUSALS):
            self.problems.append(f"{name}: status {status} {body}")
        return None


def send(stack: Stack, method: str, path: str, content: bytes = b"", kind: str = "application/json") -> tuple[int, Any]:
    """Return the status and the decoded body: 503 if no server listens, 0 if there is no response."""
    connection = HTTPConnection("127.0.0.1", stack.port, timeout=TIMEOUT)
    try:
        connection.request(method, path, content, {"Content-Type": kind, "X-API-Key": stack.key})
        response = connection.getresponse()
        text = response.read()
    except ConnectionRefusedError:
        return REFUSED, None
    except (OSError, HTTPException):
        return NO_RESPONSE, None
    finally:
        connection.close()
    is_json = "json" in response.headers.get("Content-Type", "")
    return response.status, json.loads(text) if is_json else {}


def choose_width() -> int:
    return WIDTHS[next(NUMBERS) % len(WIDTHS)]


def make_file(width: int) -> bytes:
    file = BytesIO()
    Image.linear_gradient("L").resize((width, 60)).save(file, "JPEG")
    return file.getvalue()


def kill_child(stack: Stack, _: float) -> bool:
    """Kill the process that makes the variants of an image, as soon as there is one. Return whether there was."""
    deadline = time.monotonic() + CHILD_PATIENCE
    while time.monotonic() < deadline:
        for process in stack.background.children():
            with suppress(psutil.Error):
                if "blog.images.variants" in process.cmdline():
                    process.kill()
                    return True
        time.sleep(0.01)
    return False


def kill_background(stack: Stack, _: float) -> None:
    kill_and_wait(stack.background)


def kill_server(stack: Stack, _: float) -> None:
    kill_master(stack, _)
    stack.wait_until_serving()


KILLS: tuple[Callable[[Stack, float], bool | None], ...] = (
    kill_worker, kill_child, kill_background, kill_child, kill_worker, kill_background, kill_child, kill_server,
)  # fmt: skip


def drill_images(stack: Stack, *, is_small: bool) -> list[str]:
    """Return what is wrong at the end. Prints what was done."""
    rng, stopping, begin = random.Random(7), Event(), time.monotonic()
    editors = [Editor(stack, stopping, random.Random(number)) for number in range(EDITORS)]
    threads = [Thread(target=editor.work, daemon=True) for editor in editors]
    for thread in threads:
        thread.start()
    kills = kill_in_turn(stack, rng, SMALL_SECONDS if is_small else SECONDS)
    stopping.set()
    for thread in threads:
        thread.join()
    problems = [*chain.from_iterable(editor.problems for editor in editors)]
    problems += find_lost_files(stack)
    if is_small:  # nobody waits for the end of the claims of killed workers
        stack.database.query(RELEASE)
    seconds = wait_for_the_worker(stack)
    images = [image for editor in editors for image in editor.images]
    problems += chain.from_iterable(find_differences(stack, image) for image in images)
    problems += json.loads(stack.run("-m", "benchmarks.drill.image_files").splitlines()[-1])
    done = sum((editor.done for editor in editors), Counter[str]())
    print(
        f"images: {time.monotonic() - begin:.0f} s; killed {describe(kills)}; {describe(done)}; "
        f"the worker caught up after {seconds:.0f} s; {len(images)} images compared: "
        f"{'; '.join(problems[:20]) or 'passed'}",
        flush=True,
    )
    return problems


def kill_in_turn(stack: Stack, rng: random.Random, seconds: float) -> Counter[str]:
    kills, deadline = Counter[str](), time.monotonic() + seconds
    for kill in cycle(KILLS):
        time.sleep(rng.uniform(0, 2 * PAUSE_OF_KILLS))
        if time.monotonic() > deadline:
            break
        kills[kill.__name__.removeprefix("kill_")] += kill(stack, 0) is not False
    stack.wait_until_serving()
    return kills


def describe(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def find_lost_files(stack: Stack) -> list[str]:
    """Return the files that rows name and that are missing, while the worker works."""
    try:
        stack.run("manage.py", "check_media")
    except RuntimeError as error:
        return [str(error)]
    return []


def wait_for_the_worker(stack: Stack) -> float:
    begin = time.monotonic()
    while stack.database.query(UNFINISHED):
        if time.monotonic() > begin + CATCH_UP_LIMIT:
            raise RuntimeError("The worker has not caught up.")
        time.sleep(0.2)
    return time.monotonic() - begin


def find_differences(stack: Stack, image: Expected) -> list[str]:
    status, body = send(stack, "GET", f"/images/{image.pk}")
    if image.exists is None and status == 404:
        return []
    if status != (404 if image.exists is False else 200):
        return [f"image {image.pk}: status {status} instead of {image}"]
    if status == 404:
        return []
    if body["status"] != "ready" or body["width"] not in image.widths:
        return [f"image {image.pk}: {body} instead of {image}"]
    status, _ = send(stack, "GET", urlsplit(body["url"]).path)
    return [] if status == 200 else [f"image {image.pk}: status {status} for {body['url']}"]
