"""The limits in the texts of the SDL and in the schemas of openapi.yaml are those of the code."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from graphql import build_schema, is_input_object_type, is_introspection_type, is_object_type

from blog.models import (
    CONTENT_FIELDS,
    MAX_ALT,
    MAX_BODY,
    MAX_COAUTHORS,
    MAX_DESCRIPTION,
    MAX_EXCERPT,
    MAX_IMAGES,
    MAX_NOTE,
    MAX_OLD_SLUGS,
    MAX_SLUG,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    MAX_URL,
    Kind,
)
from blog.models.images import MAX_CAPTION, MAX_CREDIT
from blog.rendering.summaries import MOST_OF_DESCRIPTION, MOST_OF_EXCERPT
from blog.search.query import MAX_MATCHES, MAX_SEARCH
from blog.services.previews import MAX_LINKS, MAX_LINKS_OF_PERSON
from contentapi.conf.environment import MAX_PREVIEW_SITES
from contentapi.conf.timeouts import (
    DEFAULT_PREVIEW_LIFETIME,
    LONGEST_PREVIEW_LIFETIME,
    RESTORABLE_FOR,
    SEARCH_INTERVAL,
    SHORTEST_PREVIEW_LIFETIME,
    SITE_PREVIEW_LIFETIME,
    UPLOADS_KEPT_FOR,
    WEBHOOK_SECRET_OVERLAP,
)
from contentapi.core.pagination import DEFAULT_PAGE
from contentapi.core.text import convert_to_camel
from contentapi.events.sources import MAX_TYPES
from contentapi.events.webhooks import models as webhooks
from contentapi.events.webhooks.resending import MAX_REPLAYED
from contentapi.events.webhooks.sending import MAX_KEPT
from contentapi.events.webhooks.services import MAX_WEBHOOKS
from contentapi.graphql.cost_directives import ListSize, read_schema_costs
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import Expected
from contentapi.projection import Projection
from contentapi.rest.openapi import read_openapi_file
from contentapi.rest.pages import MAX_OFFSET
from contentapi.schema import PROJECTIONS, SCHEMA
from orders.models import LARGEST_TOTAL, SMALLEST_TOTAL
from tests.contract.openapi_schemas import OWN_TYPES, build_schemas
from users.models import MAX_EMAIL, MAX_NAME

MAX_PAGE = settings.ENVIRONMENT.contentapi_max_page
UPLOAD = FolderStorage(Path()).presign("uploads/7", Expected("image/png", 1, ""))
SDL = "\n".join(path.read_text() for path in sorted((Path(__file__).parents[2] / "schema").glob("*.graphql")))
# What the description of a field or an argument states, by its name
PHRASES = {
    "limit": [f"from 1 to {MAX_PAGE}"],
    "first": [f"from 1 to {MAX_PAGE}", f"The default is {DEFAULT_PAGE}"],
    "last": [f"from 1 to {MAX_PAGE}"],
    "ids": [f"From 0 to {MAX_PAGE} ids"],
    **{field.api_name: [f"at most {field.longest} characters"] for field in CONTENT_FIELDS if field.kind == Kind.LINE},
    "title": [f"1 to {MAX_TITLE} characters"],
    "slug": [f"1 to {MAX_SLUG} of the characters `a-z`, `0-9` and `-`"],
    "oldSlugs": [f"at most {MAX_OLD_SLUGS}"],
    "canonicalUrl": [f"at most {MAX_URL:,} characters"],
    "excerpt": [f"at most {MAX_EXCERPT} characters", f"at most {MOST_OF_EXCERPT} characters"],
    "description": [f"at most {MAX_DESCRIPTION} characters", f"at most {MOST_OF_DESCRIPTION} characters"],
    "body": [f"at most {MAX_BODY:,} characters", f"and {MAX_IMAGES} images"],
    "coauthorIds": [f"at most {MAX_COAUTHORS} co-authors"],
    "tag": [f"at most {MAX_TAG} characters"],
    "tags": [f"at most {MAX_TAGS} tags of 1 to {MAX_TAG} characters"],
    "search": [
        f"at most {MAX_SEARCH} characters",
        f"at most the {MAX_MATCHES} newest posts",
        f"at most {2 * SEARCH_INTERVAL} seconds",
    ],
    "deleteComment": [f"for {RESTORABLE_FOR.days} days"],
    "expiresIn": [
        f"{SHORTEST_PREVIEW_LIFETIME} to {LONGEST_PREVIEW_LIFETIME:,}",
        f"at most {SITE_PREVIEW_LIFETIME:,}",
        f"{DEFAULT_PREVIEW_LIFETIME:,}, or {SITE_PREVIEW_LIFETIME:,} with the mode `site`",
    ],
    "note": [f"at most {MAX_NOTE} characters"],
    "createPreviewLink": [f"At most {MAX_LINKS} links of a post, and {MAX_LINKS_OF_PERSON} of a person"],
    "createWebhook": [f"At most {MAX_WEBHOOKS} webhooks"],
    "rotateWebhookSecret": [f"For {WEBHOOK_SECRET_OVERLAP // timedelta(hours=1)} hours"],
    "replayWebhook": [f"At most {MAX_REPLAYED:,} are allowed"],
    "url": [f"at most {webhooks.MAX_URL:,} characters"],
    "selection": [f"at most {webhooks.MAX_SELECTION:,} characters"],
    "coalesce": [
        f"From 1 to {webhooks.LONGEST_COALESCE}:",
        f"from 0 to {webhooks.LONGEST_COALESCE}",
        "0 sends each event",
        "0 if each event is sent",
        "The default is 0",
    ],
    "number": ["from 1"],
    "response": [f"first {MAX_KEPT // 1024} KiB"],
    "images": [f"the first {MAX_IMAGES}"],
    "deleteImage": [f"for {RESTORABLE_FOR.days} days"],
    "createUpload": [f"within {UPLOADS_KEPT_FOR // timedelta(hours=1)} hours"],
    "sha256": ["SHA-256", "64 hexadecimal digits"],
    "thumbhash": ["Base64"],
    "x": ["From 0 (left) to 1 (right)"],
    "y": ["From 0 (top) to 1 (bottom)"],
    "alt": [f"at most {MAX_ALT} characters"],
    "coverAlt": [f"at most {MAX_ALT} characters"],
    "caption": [f"at most {MAX_CAPTION:,} characters"],
    "credit": [f"at most {MAX_CREDIT} characters"],
    "total": [f"from {SMALLEST_TOTAL} to {LARGEST_TOTAL}"],
    "types": [f"at most {MAX_TYPES}", f"from 1 to {MAX_TYPES}"],
    "name": [f"1 to {MAX_NAME} characters"],
    "email": [f"at most {MAX_EMAIL} characters"],
}
LENGTHS = {  # of the columns, by the names of the fields
    (convert_to_camel(column.name), column.max_length)
    for projection in PROJECTIONS
    if isinstance(projection, Projection)
    for column in projection.model._meta.fields
    if column.max_length
}
# The keywords of parameters, and of schemas in openapi.yaml that are written by hand, by the name
KEYWORDS: dict[str, dict[str, float]] = {
    "tag": {"maxLength": MAX_TAG},
    "search": {"maxLength": MAX_SEARCH},
    "email": {"maxLength": MAX_EMAIL},
    "total": {"maximum": float(LARGEST_TOTAL)},
    "type": {"maxItems": MAX_TYPES},
    "limit": {"maximum": MAX_PAGE, "default": DEFAULT_PAGE},
    "offset": {"maximum": MAX_OFFSET},
    "status": {"maximum": 599},  # of an error
}
# How many objects a list can have, if none of its arguments determines it, or fewer than its default
LIST_SIZES = {
    "Post.images": MAX_IMAGES,
    "Post.coauthors": MAX_COAUTHORS,
    "Post.previewLinks": MAX_LINKS,
    "CreatePreviewLinkPayload.addresses": MAX_PREVIEW_SITES + 1,
    "CreateUploadPayload.headers": len(UPLOAD.headers),
}
COMPARED = {"maxLength", "maxItems", "maximum", "default"}


def iterate_descriptions() -> Iterator[tuple[str, str, str]]:
    """Yield the coordinate, the name and the description of each field and each argument."""
    for name, kind in build_schema(SDL).type_map.items():
        if is_introspection_type(kind) or not (is_object_type(kind) or is_input_object_type(kind)):
            continue
        for field_name, field in kind.fields.items():
            yield f"{name}.{field_name}", field_name, field.description or ""
            for argument_name, argument in getattr(field, "args", {}).items():
                yield f"{name}.{field_name}({argument_name})", argument_name, argument.description or ""


def iterate_limits(node: Any, name: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield the limits of all schemas: the name of the property or the parameter, the keyword and the value."""
    if isinstance(node, list):
        for each in node:
            yield from iterate_limits(each, name)
    if isinstance(node, dict):
        name = node["name"] if "in" in node and "name" in node else name
        for key, value in node.items():
            if key in COMPARED and isinstance(value, int | float):
                yield name, key, value
            elif key == "properties":
                for property_name, schema in value.items():
                    yield from iterate_limits(schema, property_name)
            elif key not in ("example", "examples"):
                yield from iterate_limits(value, name)


def test_each_number_in_the_sdl_is_a_limit_of_the_code() -> None:
    wrong = []
    for coordinate, name, description in iterate_descriptions():
        rest = " ".join(description.split())
        lengths = [length for field, length in LENGTHS if field == name]
        columns = [f"{least} {length:,} characters" for length in lengths for least in ("1 to", "at most")]
        for phrase in [*PHRASES.get(name, ()), *columns]:
            rest = re.sub(rf"(?<![\d.,]){re.escape(phrase)}(?![\d.,]*\d)", "", rest, flags=re.IGNORECASE)
        if re.search(r"\d", rest):
            wrong.append((coordinate, rest))

    assert wrong == []


def test_each_phrase_occurs_in_the_sdl() -> None:
    stated = dict.fromkeys(PHRASES, "")
    for _, name, description in iterate_descriptions():
        stated[name] = f"{stated.get(name, '')} {' '.join(description.split())}"

    assert [phrase for name, phrases in PHRASES.items() for phrase in phrases if phrase not in stated[name]] == []


def test_assumed_size_of_each_list_is_the_number_of_objects_that_it_can_have() -> None:
    sizes = {
        f"{kind}.{name}": cost.size
        for (kind, name), cost in read_schema_costs(SCHEMA).fields.items()
        if cost.size != ListSize(assumed=1) and not cost.is_sized and kind not in OWN_TYPES  # whose SDL is the team's
    }

    assumed = {coordinate: size.assumed for coordinate, size in sizes.items()}
    assert assumed == {coordinate: find_maximum(coordinate, size) for coordinate, size in sizes.items()}
    assert LIST_SIZES.keys() <= sizes.keys()


def find_maximum(coordinate: str, size: ListSize) -> int | None:
    """Return how many objects a list can have without arguments. None: a required argument is a list of their ids."""
    if coordinate in LIST_SIZES:
        return LIST_SIZES[coordinate]
    argument = size.arguments[0]
    return None if argument.is_list else argument.default or DEFAULT_PAGE


def test_each_limit_in_openapi_is_a_limit_of_the_code() -> None:
    written = {(name, key, value) for name, keys in KEYWORDS.items() for key, value in keys.items()}
    generated = set(iterate_limits(build_schemas()))
    of_columns = {name for name, _ in LENGTHS}
    lengths = {(name, value) for name, key, value in generated if key == "maxLength" and name in of_columns}

    assert set(iterate_limits(read_openapi_file())) == written | generated
    assert lengths <= LENGTHS
