"""Load the demo: content, and credentials of its admin."""

import secrets
from decimal import Decimal

from django.conf import settings
from django.db import transaction

from blog import services as blog
from blog.files import importing, reading
from blog.files.importing import ImportOutcome
from blog.files.reading import MarkdownFile
from blog.models import Image, PostSource
from contentapi.conf import conf
from contentapi.conf.secret_files import read_or_create, write_atomically
from contentapi.core.errors import Unauthenticated
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Actor, Role
from contentapi.events.triggers import silence
from orders import services as orders
from orders.models import Order
from users import services as users
from users.authentication import authenticate_api_key
from users.models import User

ADMIN = "admin@example.com"
READER = "reader@example.com"
AUTHOR = "author@example.com"
PEOPLE = {
    ADMIN: ("Alva Admin", Role.ADMIN),
    "editor@example.com": ("Edda Editor", Role.EDITOR),
    AUTHOR: ("Aurel Author", Role.AUTHOR),
    READER: ("Rosa Reader", Role.READER),
}
POSTS = settings.BASE_DIR / "blog" / "demo"
COMMENTS = {
    "2026-11-01-how-we-name-our-boats.md": [
        (READER, "My grandmother is on the list of refused names. She is proud of it."),
        (AUTHOR, "Can we print the whole list in the winter issue?"),
    ],
    "2026-08-30-what-the-storm-brought.md": [(READER, "The lemons were excellent.")],
    "2026-02-03-reading-a-tide-table.md": [("editor@example.com", "Step three should come first.")],
}
IMAGES = {
    "boats.webp": "Three rowing boats: a red one, a yellow one and a blue one",
    "harbour.webp": "A fishing boat leaves the harbour at sunrise",
    "lighthouse.jpg": "A lighthouse at night, with its beams over the sea",
    "storm.webp": "Buoys and a crate of lemons on a beach",
    "tide.png": "The height of the sea in a day",
}
TOTALS = (Decimal("18.50"), Decimal("240.00"))

PASSWORD_FILE = settings.VAR_DIR / "demo_password"
API_KEY_FILE = settings.VAR_DIR / "demo_api_key"

FIRST_QUERY = "{ posts(limit: 2) { title author { name } commentCount comments { body author { name } } } }"


def load_demo() -> None:
    """Load the missing content, and make the password and the API key in var/ valid for the demo's admin."""
    with silence():
        load_content()
    blog.images.render_posts_with_old_addresses()  # of another port: the worker renders them
    ensure_credentials()


@transaction.atomic
def load_content() -> None:
    """Load the missing parts of the demo: users, posts with their authors and comments, and orders."""
    actors = {email: get_or_create_actor(email, name, role) for email, (name, role) in PEOPLE.items()}
    for file in reading.find_markdown_files([POSTS], source="demo"):
        load_post(file, actors)
    describe_images()
    reader = actors[READER]
    if reader.user_id and not Order.objects.filter(user=reader.user_id).exists():
        for total in TOTALS:
            orders.create_order(actor=reader, total=total)


def get_or_create_actor(email: str, name: str, role: Role) -> Actor:
    user = User.objects.with_email(email).first()
    user = user or users.create_user(actor=OPERATOR, email=email, name=name, role=role)
    return Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role], credential="operator")


def load_post(file: MarkdownFile, actors: dict[str, Actor]) -> None:
    if importing.import_file(actor=OPERATOR.through("demo"), file=file) is ImportOutcome.CREATED:
        post_id = str(PostSource.objects.get(source=file.source, path=file.path).post_id)
        for email, body in COMMENTS.get(file.path, []):
            blog.add_comment(actor=actors[email], post_id=post_id, body=body)


def describe_images() -> None:
    """Give the images that were just stored their texts. The worker makes their files."""
    for image in Image.objects.filter(name__in=IMAGES, owner_id=None, version=1):
        blog.edit_image(actor=OPERATOR.through("demo"), image_id=str(image.pk), changes={"alt": IMAGES[image.name]})


def ensure_credentials() -> None:
    password = read_or_create(PASSWORD_FILE, lambda: secrets.token_urlsafe(12))
    admin = User.objects.with_email(ADMIN).get()
    if not admin.check_password(password):
        admin.set_password(password)
        admin.save(update_fields=["password"])
    try:
        authenticate_api_key(API_KEY_FILE.read_text())
    except (FileNotFoundError, Unauthenticated):
        write_atomically(API_KEY_FILE, users.create_api_key(actor=OPERATOR, email=ADMIN, name="demo"))


def build_greeting() -> str:
    """Return the text that `make run` prints: the addresses, the credentials and a first query."""
    base = f"http://localhost:{conf.environment.port}"
    return f"""
The Content API is ready.

  GraphQL   {base}/graphql   (in a browser: the explorer)
  Resources {base}/docs
  Admin     {base}/admin/   log in as {ADMIN} with {PASSWORD_FILE.read_text()}
  API key   {API_KEY_FILE.read_text()}   (header X-API-Key)

A first query:

  curl {base}/graphql -H 'Content-Type: application/json' \\
    -d '{{"query": "{FIRST_QUERY}"}}'

Ctrl-C stops it. Data, password and key stay in {settings.VAR_DIR}.
"""
