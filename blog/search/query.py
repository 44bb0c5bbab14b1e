"""Full-text search: which posts match a text, and how well. `blog.search.indexing` writes the documents.

A document has the words of a post in two forms: as stems of the configured language with weights (title A, tags and
authors' names B, body C), and as written without accents. So `publications` finds `publication`, and so does
`publicat`, which is not a prefix of the stem `public`. It also has a lexeme for each tag as a whole.
"""

import re
from typing import Any

from django.db.models import BigIntegerField, BooleanField, F, FloatField, Func, Q, QuerySet, Subquery, TextField, Value
from django.db.models.lookups import GreaterThanOrEqual

from blog import policy
from blog.models import Post, PostSearch, PostStatus
from blog.search.words import build_stems, is_unspaced, split_words
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.text import require_storable
from contentapi.core.unicode import fold_accents
from contentapi.db.distribution import is_distributed
from contentapi.db.expressions import Term, TextLiteral
from contentapi.projection import NEWEST_FIRST, Ordering
from contentapi.projection.expressions import CountOfRows, RawExpression

MAX_SEARCH = 200
MAX_MATCHES = 500  # ranked by one search: the time of a search must not grow with the number of posts
TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
RELEVANCE = Ordering("relevance", descending=True)
SAMPLE = 100  # of the newest rows: the sample that decides whether to walk
COMMON_IN_SAMPLE = 30  # matches in the sample: a walk then reads some 1,700 rows
LONGEST_WALK = 2000  # rows


def parse_search(text: str) -> list[str]:
    """Return the terms of a search for `TermsQuery`: `"blue sky" open-café` is `"blue/blue/ sky/sky/`, `open/open/…`.

    A term has each word with its accents and without them, and whether it is a prefix: the last one of two or more
    characters is. A phrase in quotes matches as it is, and its term begins with a quote. Raises `Malformed`.
    """
    if len(text) > MAX_SEARCH:
        raise Malformed(f"search must have at most {MAX_SEARCH} characters.")
    require_storable(text)
    terms = []
    for phrase, compound in TERM.findall(text):
        found = split_words(phrase or compound, of_search=True)
        words = [f"{word}/{fold_accents(word)}/" for word in found]
        if not words:
            continue
        if compound and (len(words[-1]) > len("a/a/") or is_unspaced(words[-1])):
            words[-1] += ":*"  # of one letter, it would match nearly every post
        terms.append('"' * bool(phrase) + " ".join(words))
    return terms


class TermsQuery(Func):
    """The query that requires all terms of an array, each word as a stem or as written; NULL if no term has a word.

    `posts/posts/:*` becomes `('post':* | 'posts':*)`, and `"forest/forest/ of/of/ kelp/kelp/` becomes
    `'forest' <2> 'kelp'`. A word without a stem is left out, unless its term has several words and none has a stem.
    PostgreSQL executes the subquery once for each statement.
    """

    template = """(
      SELECT string_agg(part, ' & ')::tsquery FROM unnest(%(expressions)s::text[]) AS term, LATERAL (
        SELECT CASE
          WHEN count(stem) = 0 THEN CASE WHEN count(*) > 1 THEN string_agg(written, ' & ') END
          WHEN count(*) > 1 AND starts_with(term, '"')
          THEN string_agg(coalesce('<' || place - earlier || '>', '') || stem, '' ORDER BY place)
          ELSE string_agg('(' || stem || mode || ' | ' || written || mode || ')', ' & ') END AS part
        FROM (
          SELECT place, mode, quote_literal(written) AS written, quote_literal(nullif(stems[1], '')) AS stem,
            max(place) FILTER (WHERE stems[1] <> '')
              OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
          FROM string_to_table(ltrim(term, '"'), ' ') WITH ORDINALITY AS entry(parts, place),
            LATERAL (SELECT split_part(parts, '/', 1), split_part(parts, '/', 2), split_part(parts, '/', 3))
              AS split(word, written, mode), LATERAL (SELECT %(stems)s) AS found(stems)
        ) AS words
      ) AS terms)"""
    output_field = TextField()

    def __init__(self, terms: Any) -> None:
        super().__init__(terms, stems=build_stems())


class TagQuery(Func):
    """The query for a tag as a whole. In hex it needs no quotes: `#6e657773` for `news`."""

    template = "('#' || encode(convert_to(%(expressions)s, 'UTF8'), 'hex'))::tsquery"
    output_field = TextField()

    def __init__(self, tag: Any) -> None:
        super().__init__(Value(tag) if isinstance(tag, str) else tag)  # Func would read a text as the name of a field


class Matches(Func):
    """Whether a document matches a query, by the index."""

    arg_joiner = " @@ "
    template = "(%(expressions)s)"
    output_field = BooleanField()


class NewestMatches(Func):
    """The ids of the first query if it has `most` rows, otherwise of the second, which the first one disables."""

    template = "(WITH walked(id) AS MATERIALIZED %(expressions)s AS indexed(id))"
    arg_joiner = " SELECT id FROM walked WHERE (SELECT count(*) FROM walked) = {} UNION ALL SELECT id FROM "
    output_field = BigIntegerField()

    def __init__(self, walked: QuerySet[PostSearch], indexed: QuerySet[PostSearch], most: int) -> None:
        has_walked_too_little = RawExpression(
            f"(SELECT count(*) FROM walked) < {most}",  # noqa: S608 - a constant
            BooleanField(),
        )
        queries = [walked, indexed.filter(has_walked_too_little)]
        newest = [Subquery(rows.order_by(*NEWEST_FIRST.terms()).values("pk")[:most]) for rows in queries]
        super().__init__(*newest, arg_joiner=self.arg_joiner.format(most))


def find_posts(
    actor: Actor, terms: Any, *, status: PostStatus | None, tag: Any, conditions: Q, own: tuple[Q, Q]
) -> QuerySet[Post]:
    """Return the newest posts that match all terms and that the actor may see, up to MAX_MATCHES, with `relevance`.

    The conditions are on authors and `created_at`; `own` are those on own fields, of posts and of the rows of
    `PostSearch`. The copies in `PostSearch` select candidates, and the posts decide:

        SELECT … FROM blog_post INNER JOIN blog_postsearch ON blog_post.id = blog_postsearch.post_id
        WHERE blog_post.status = 'published' AND blog_postsearch.post_id IN (candidates)
        ORDER BY ts_rank(document, query) DESC, blog_post.id DESC LIMIT $1
    """
    query = TermsQuery(terms)
    if status is None:
        visible = policy.visible_posts(actor)
    else:
        visible = policy.split_visible_posts(actor, status).condition
        visible &= Q(status=TextLiteral(status))
    posts = Post.objects.filter(visible, conditions, own[0])
    rows = PostSearch.objects.filter(visible, conditions, own[1])
    if tag is not None:
        posts = posts.filter(tags__contains=[tag])
        rows = rows.filter(Matches(F("document"), TagQuery(tag)))
    among = {"arg_joiner": " IN ", "template": "(%(expressions)s)", "output_field": BooleanField()}
    posts = posts.filter(Func("search__pk", build_candidates(rows, query), **among))
    # It depends on the document alone, not on posts that are hidden.
    return posts.annotate(relevance=Func("search__document", query, function="ts_rank", output_field=FloatField()))


def build_candidates(rows: QuerySet[PostSearch], query: Term) -> NewestMatches | Subquery:
    """Return the ids of the newest rows that match a query, up to MAX_MATCHES.

    GIN returns all matches of a query, which takes long if it is half of the posts. If many of the newest rows match,
    they are read in their order until there are enough. Both ways find the same rows:

        WITH walked(id) AS MATERIALIZED (
          SELECT post_id FROM blog_postsearch WHERE status = 'published' AND ts_match_vq(document, query)
            AND (SELECT count(*) FROM (…the newest 100…)) >= 30
            AND (created_at, post_id) >= (…the row 2,000…)
          ORDER BY created_at DESC, post_id DESC LIMIT 500)
        SELECT id FROM walked WHERE (SELECT count(*) FROM walked) = 500
        UNION ALL SELECT id FROM (
          SELECT post_id FROM blog_postsearch WHERE status = 'published' AND document @@ query
            AND (SELECT count(*) FROM walked) < 500
          ORDER BY created_at DESC, post_id DESC LIMIT 500) AS indexed(id)
    """
    matching_index = rows.filter(Matches(F("document"), query))
    if is_distributed():  # each shard returns its newest matches
        return Subquery(matching_index.order_by(*NEWEST_FIRST.terms()).values("pk")[:MAX_MATCHES])
    newest = PostSearch.objects.order_by(*NEWEST_FIRST.terms())
    # The function of `@@`, which has no index: it reads the document.
    matching = rows.filter(Func("document", query, function="ts_match_vq", output_field=BooleanField()))
    newest_ids = newest.values("pk")[:SAMPLE]
    sample = matching.filter(pk__in=newest_ids)
    is_common = GreaterThanOrEqual(CountOfRows(sample.values("pk")), COMMON_IN_SAMPLE)
    end = newest[LONGEST_WALK - 1 : LONGEST_WALK]
    time, pk = Subquery(end.values("created_at")), Subquery(end.values("pk"))
    is_near = NEWEST_FIRST.beyond(time, pk, backwards=True, inclusive=True)
    walked = matching.filter(is_common, is_near)
    return NewestMatches(walked, matching_index, MAX_MATCHES)
