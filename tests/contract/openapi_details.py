"""What the schemas of schema/openapi.yaml state beside the SDL: the limits as keywords, and texts of REST alone."""

from typing import Any

from blog.models import CONTENT_FIELDS, MAX_ALT, MAX_COAUTHORS, MAX_NOTE, ContentField, Kind
from blog.models.images import MAX_CAPTION, MAX_CREDIT
from blog.services import validation
from contentapi.conf.timeouts import LONGEST_PREVIEW_LIFETIME, SHORTEST_PREVIEW_LIFETIME
from contentapi.core.text import convert_to_camel
from contentapi.events.sources import MAX_TYPES
from contentapi.events.webhooks import models as webhooks
from contentapi.projection import Projection
from contentapi.schema import PROJECTIONS
from users.models import MAX_NAME

Schema = dict[str, Any]
MODELS = {each.name: each.model for each in PROJECTIONS if isinstance(each, Projection)}
OF_CONTENT = {"Post", "WorkingCopy", "NewPost", "PostChanges", "WorkingCopyChanges"}
NULLABLE = {*validation.NULLABLE, "selection"}  # what null changes
STORABLE, DIGITS = r"^[^\x00]*$", "^[0-9]+$"
FRACTION = {"minimum": 0, "maximum": 1}
COUNT = {"minimum": 0}
TYPES = {"minItems": 1, "maxItems": MAX_TYPES}
CURSOR = {"pattern": "^(now|[0-9a-z]{1,32}-(0|[1-9][0-9]{0,17}))$"}
CONTENT = {field.api_name: field for field in CONTENT_FIELDS}
KEYWORDS: dict[str, Schema] = {  # by the property, or by the schema and the property
    "alt": {"maxLength": MAX_ALT},
    "attemptCount": COUNT,
    "baseVersion": {"pattern": DIGITS},
    "caption": {"maxLength": MAX_CAPTION},
    "coalesce": {"minimum": 0, "maximum": webhooks.LONGEST_COALESCE},
    "coauthors": {"maxItems": MAX_COAUTHORS},
    "coauthorIds": {"maxItems": MAX_COAUTHORS, "uniqueItems": True},
    "commentCount": COUNT,
    "credit": {"maxLength": MAX_CREDIT},
    "expiresIn": {"minimum": SHORTEST_PREVIEW_LIFETIME, "maximum": LONGEST_PREVIEW_LIFETIME},
    "note": {"maxLength": MAX_NOTE},
    "number": {"minimum": 1},
    "secret": {"pattern": "^whsec_[A-Za-z0-9+/]{43}=$"},
    "token": {"pattern": "^cap_[0-9a-f]{64}$"},
    "version": {"pattern": DIGITS},
    "x": FRACTION,
    "y": FRACTION,
    "Cover.alt": {},
    "NewComment.body": {"minLength": 1},
    "NewPreviewLink.version": {},
    "NewReplay.after": CURSOR,
    "NewReplay.onlyFailed": {"default": False},
    "NewReplay.to": CURSOR,
    "NewReplay.types": {"maxItems": MAX_TYPES},
    "NewWebhook.selection": {"maxLength": webhooks.MAX_SELECTION},
    "NewWebhook.types": TYPES,
    "Webhook.name": {"maxLength": MAX_NAME},
    "Webhook.url": {"maxLength": webhooks.MAX_URL},
    "WebhookChanges.selection": {"maxLength": webhooks.MAX_SELECTION},
    "WebhookChanges.types": TYPES,
    "WorkingCopyChanges.baseVersion": {},
}
VERSION = "The version that the resource must have, alone or as a whole ETag. A different version gets 409."
OWN = {  # by the schema, by the property, or by both
    "CreatedPreviewLink": "A new preview link, with what only this response has.",
    "Cover": "The image of a post in lists and cards.",
    "Cover.alt": "What the cover shows: the post's own text, or that of the image.",
    "ExpectedVersionBody": "The version that the resource must have.",
    "Post": "An article with its author and tags.",
    "PostChanges": "Changes to a post. Omitted fields stay as they are.",
    "PostChanges.status": "The new status.",
    "PostChanges.publishAt": "A future time, required with the status `scheduled` and not allowed with any other.",
    "PreviewLink": "A link that shows a post to people without an account.",
    "Profile": "The public fields of an author.",
    "Author.email": "Omitted if the author has none, or you may not see it.",
    "WebhookWithSecret": "A webhook with its new secret, which only this response has.",
    "WorkingCopy": "The text of the next version of a post.",
    "WorkingCopyChanges": "Changes of a post that are not public yet. Omitted fields stay as they are.",
    "WorkingCopyChanges.baseVersion": (
        "The version of the post that you have merged into the changes, alone or as a whole ETag. If omitted, it "
        "stays; the first save takes the present one. A version that the post never had gets 409."
    ),
    "Image": "An image that posts can use. In Markdown, `![text](image:ID)` is the image.",
    "Image.srcset": (
        "The value of the HTML attribute `srcset`: all variants in WebP; empty while the image is not ready."
    ),
    "Image.url": "The address of the original; null while the image is not ready.",
    "ImageChanges": "Changes of an image. Omitted fields stay as they are.",
    "NewPost.status": "The initial status. If omitted or null, it is `draft`.",
    "NewPreviewLink.mode": "What the link shows. The default is `latest`.",
    "NewPreviewLink.version": (
        "The version of the post that a link of the mode `version` shows, alone or as a whole ETag."
    ),
    "expectedVersion": VERSION,
}
PAGE: dict[str, Schema] = {  # the members of a page beside its items
    "next_cursor": {
        "description": "Send it back as `cursor`. Null on the last page; absent from a page by `offset`.",
        "type": ["string", "null"],
    },
    "total": {
        "description": "The number of items on all pages. Only with `offset`.",
        "type": "integer",
        "minimum": 0,
    },
    "offset": {"description": "The offset of the request. Only with `offset`.", "type": "integer", "minimum": 0},
    "limit": {
        "description": "The limit of the request or its default. Only with `offset`.",
        "type": "integer",
        "minimum": 1,
    },
}
EXAMPLE = {  # the content of a post in the examples
    "title": "How we name our boats",
    "slug": "how-we-name-our-boats",
    "canonicalUrl": None,
    "excerpt": "A boat is named twice.",
    "description": "A boat is named twice.",
    "body": "A boat is named twice.",
    "tags": ["boats", "harbour"],
}


def find_keywords(owner: str, name: str) -> Schema:
    """Return the limits of a property: those of a field of the content, of the property of this schema, or of all."""
    field = CONTENT.get(name) if owner in OF_CONTENT else None
    if field is not None and f"{owner}.{name}" not in KEYWORDS:
        return describe_content(field, is_body=owner.startswith("New") or owner.endswith("Changes"))
    if (found := KEYWORDS.get(f"{owner}.{name}", KEYWORDS.get(name))) is not None:
        return found
    return describe_column(owner, name)


def describe_column(body: str, name: str) -> Schema:
    """Return the lengths of a property of a body: those of the column of the same name."""
    model = MODELS.get(body.removeprefix("New").removesuffix("Changes"))
    if model is None or (not body.startswith("New") and not body.endswith("Changes")):
        return {}
    columns = {convert_to_camel(column.name): column for column in model._meta.fields}
    if name not in columns or not columns[name].max_length:
        return {}
    return {**({} if columns[name].blank else {"minLength": 1}), "maxLength": columns[name].max_length}


def describe_content(field: ContentField, *, is_body: bool) -> Schema:
    if field.kind == Kind.WORDS:
        words = {"items": {"type": "string", "minLength": 1, "maxLength": field.longest}, "maxItems": field.most_words}
        return {**(words if is_body else {}), "uniqueItems": True}
    if field.kind == Kind.IMAGE:
        return {}
    least = {"minLength": 1} if field.is_required or field.name == "slug" else {}
    return {**least, "maxLength": field.longest, **({"pattern": "^[a-z0-9-]+$"} if field.name == "slug" else {})}


def find_description(owner: str, name: str, described: str | None) -> str:
    """Return the text of a property: that of REST, or that of the SDL."""
    return OWN.get(f"{owner}.{name}") or OWN.get(name) or " ".join((described or "").split())
