"""The keys of front matter that have a meaning, as Zola, Hugo, Jekyll and others name them."""

import re

import yaml


def fold_key(key: str) -> str:
    """Return a key as it is compared: without case, and without the marks between its words."""
    return re.sub(r"(?<=.)[-_]", "", key.lower())


ADDRESS_KEYS = ("path", "url", "permalink")  # of the whole address of a page, in Zola, Hugo and Jekyll
ALIAS_KEYS = ("aliases", "redirect_from")  # of its earlier addresses, in Hugo and Zola, and in Jekyll
CANONICAL_KEYS = ("canonical", "canonicalURL")
EXCERPT_KEYS = ("excerpt", "summary")  # in Jekyll, and in Hugo
# The others of these three are ignored with a value that is no date: they have other meanings elsewhere.
UPDATED_KEYS = ("updated", "lastmod", "last_modified_at", "updatedDate", "modDatetime", "updated_at", "date_updated")
# Of the time of publication, in Hugo, Astro and Ghost
RELEASE_KEYS = ("publishDate", "pubdate", "published", "pubDatetime", "published_at", "date_published")
CREATED_KEYS = ("created", "created_at")  # in Obsidian and Ghost, for a file without a date
DATE_KEYS = {"date", "publishAt", "publishedAt", *UPDATED_KEYS[:3], *RELEASE_KEYS[:3]}  # always have a date
AUTHOR_KEYS = ("authors", "author")
TAG_KEYS = ("tags", "tag")
CATEGORY_KEYS = ("categories", "category")
COVER_KEYS = ("cover", "image", "featured_image", "feature_image", "coverImage", "heroImage", "og_image")
NESTED_TABLES = ("taxonomies", "extra")  # in which Zola has authors and tags too
# Keys that restrict the readers of a page, or hide it from lists and search engines.
HIDING_KEYS = (
    *("draft", "isDraft", "wip", "private", "hidden", "unlisted", "password", "protected", "visibility", "headless"),
    "eleventyExcludeFromCollections",
)
SHOWING_KEYS = ("published", "publish")
PAGE_KEYS = ("permalink", "render", "build", "_build")  # may say that there is no page
# The values of these keys are words.
WORD_KEYS = {"title", "slug", *ADDRESS_KEYS, *ALIAS_KEYS, *AUTHOR_KEYS, *TAG_KEYS, *CATEGORY_KEYS}
FOLDED_WORD_KEYS = set(map(fold_key, WORD_KEYS))
FOREIGN_KEYS = {
    *(*WORD_KEYS, *CANONICAL_KEYS, *EXCERPT_KEYS, *UPDATED_KEYS, *RELEASE_KEYS, *COVER_KEYS, *NESTED_TABLES),
    *(*HIDING_KEYS, *SHOWING_KEYS, *PAGE_KEYS, *CREATED_KEYS, "post_status"),
}
TEXT, NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"


def keep_words(root: yaml.MappingNode) -> None:
    """Make texts of all values below the keys of words, as they are written. An empty value, `~` and `null` stay."""
    pending: list[tuple[yaml.Node, bool]] = [(root, False)]
    seen = set[tuple[int, bool]]()  # aliases refer to the same node
    while pending:
        node, is_word = pending.pop()
        if (id(node), is_word) in seen:
            continue
        seen.add((id(node), is_word))
        if isinstance(node, yaml.SequenceNode) and is_word:
            pending.extend((item, True) for item in node.value)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                name = fold_key(str(key.value))
                has_words = is_word or name in FOLDED_WORD_KEYS
                if has_words or (node is root and name in NESTED_TABLES):
                    pending.append((value, has_words))
        elif isinstance(node, yaml.ScalarNode) and is_word and (node.tag != NULL or node.value in ("Null", "NULL")):
            node.tag = TEXT
