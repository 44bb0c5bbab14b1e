"""The keys of front matter that have a meaning, as Zola, Hugo, Jekyll and others name them."""

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
HIDING_KEYS = ("draft", "private", "hidden", "unlisted", "password", "visibility")  # who may not read a page
SHOWING_KEYS = ("published", "publish")
# The values of these keys are words.
WORD_KEYS = {"title", "slug", *ADDRESS_KEYS, *ALIAS_KEYS, *AUTHOR_KEYS, *TAG_KEYS, *CATEGORY_KEYS}
FOREIGN_KEYS = {
    *(*WORD_KEYS, *CANONICAL_KEYS, *EXCERPT_KEYS, *UPDATED_KEYS, *RELEASE_KEYS, *COVER_KEYS, *NESTED_TABLES),
    *(*HIDING_KEYS, *SHOWING_KEYS),
}
