"""The keys of front matter that have a meaning, as Zola, Hugo, Jekyll and others name them."""

import yaml

ADDRESS_KEYS = ("path", "url", "permalink")  # of the whole address of a page, in Zola, Hugo and Jekyll
ALIAS_KEYS = ("aliases", "redirect_from")  # of its earlier addresses, in Hugo and Zola, and in Jekyll
CANONICAL_KEYS = ("canonical", "canonicalURL")
EXCERPT_KEYS = ("excerpt", "summary")  # in Jekyll, and in Hugo
UPDATED_KEYS = ("updated", "lastmod", "last_modified_at")
RELEASE_KEYS = ("publishDate", "pubdate", "published")  # of the time of publication, in Hugo
AUTHOR_KEYS = ("authors", "author")
TAG_KEYS = ("tags", "tag")
CATEGORY_KEYS = ("categories", "category")
COVER_KEYS = ("cover", "image", "featured_image", "og_image")
NESTED_TABLES = ("taxonomies", "extra")  # in which Zola has authors and tags too
HIDING_KEYS = ("draft", "private", "hidden", "unlisted", "password", "visibility")  # each limits who may read a page
SHOWING_KEYS = ("published", "publish")
# The values of these keys are words.
WORD_KEYS = {"title", "slug", *ADDRESS_KEYS, *ALIAS_KEYS, *AUTHOR_KEYS, *TAG_KEYS, *CATEGORY_KEYS}
FOREIGN_KEYS = {
    *(*WORD_KEYS, *CANONICAL_KEYS, *EXCERPT_KEYS, *UPDATED_KEYS, *RELEASE_KEYS, *COVER_KEYS, *NESTED_TABLES),
    *(*HIDING_KEYS, *SHOWING_KEYS),
}
TEXT, NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"


def keep_words(root: yaml.MappingNode) -> None:
    """Make texts of all values below the keys of words: they are what is written, never what YAML makes of it.

    An empty value, `~` and `null` stay what they are.
    """
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
                name = str(key.value).lower()
                if is_word or name in WORD_KEYS or (node is root and name in NESTED_TABLES):
                    pending.append((value, is_word or name in WORD_KEYS))
        elif isinstance(node, yaml.ScalarNode) and is_word and (node.tag != NULL or node.value in ("Null", "NULL")):
            node.tag = TEXT
