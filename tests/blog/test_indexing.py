"""The documents of search follow every change of posts, however it is made and however many workers run."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import connection, transaction
from django.db.models import F
from pytest_django import Settings

from blog import selectors, services
from blog.models import MAX_BODY, Author, Post, PostSearch, SearchChange
from blog.search import indexing
from blog.search.indexing import POSTS_PER_TRANSACTION, SearchIndexer
from blog.selectors.posts import PostCriteria
from contentapi.core.errors import Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR
from contentapi.db.statements import execute
from tests.environment import set_environment
from tests.factories import make_author, make_post


def update(indexer: SearchIndexer) -> None:
    indexer.update(Event(), actor=OPERATOR)


def find(text: str) -> set[int]:
    return {post.pk for post in selectors.posts.select_posts(OPERATOR, PostCriteria.parse(search=text)).queryset()}


@pytest.fixture
def indexer() -> SearchIndexer:
    """Return an indexer that has compared all posts, so that it finds only what is new."""
    indexer = SearchIndexer()
    update(indexer)
    assert indexer.compared is None
    return indexer


def test_post_with_a_lower_id_that_is_committed_later_is_indexed(indexer: SearchIndexer) -> None:
    post = make_post(body="kelp")
    late = Post.objects.get(pk=post.pk)
    post.delete()
    make_post()
    update(indexer)
    late.save(force_insert=True)
    update(indexer)
    assert find("kelp") == {late.pk}


@pytest.mark.parametrize(
    "change",
    [
        lambda post: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Kelp"}),
        lambda post: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"tags": ["kelp"]}),
        lambda post: Post.objects.filter(pk=post.pk).update(body="kelp"),
        lambda post: Post.objects.filter(pk=post.pk).update(author=make_author(name="Kelp")),
        lambda post: Author.objects.filter(pk=post.author_id).update(name="Ines Kelp"),
        lambda post: Post.objects.filter(pk=post.pk).update(coauthor_ids=[make_author(name="Kelp").pk]),
        lambda post: Author.objects.filter(pk__in=post.coauthor_ids).update(name="Kelp"),
    ],
    ids=[
        *("title by service", "tags by service", "body in the shell", "author in the shell", "name of the author"),
        *("co-author in the shell", "name of a co-author"),
    ],
)
def test_change_is_indexed_however_it_is_made(indexer: SearchIndexer, change: Callable[[Post], object]) -> None:
    post = make_post(coauthor_ids=[make_author().pk])
    update(indexer)
    change(post)
    assert find("kelp") == set()
    update(indexer)
    assert find("kelp") == {post.pk}
    assert not SearchChange.objects.exists()


def test_change_of_status_and_time_reaches_the_copies(indexer: SearchIndexer) -> None:
    post = make_post()
    update(indexer)
    later = post.created_at + timedelta(days=365)
    Post.objects.filter(pk=post.pk).update(status="archived", created_at=later)
    update(indexer)
    assert PostSearch.objects.values_list("status", "created_at").get() == ("archived", later)


def test_change_of_other_values_is_not_noted(indexer: SearchIndexer) -> None:
    post = make_post()
    update(indexer)
    Post.objects.update(version=F("version") + 1, title=F("title"), body=F("body"))
    Author.objects.filter(pk=post.author_id).update(bio="New.", name=F("name"))
    assert not SearchChange.objects.exists()


def test_author_of_many_posts_is_indexed_in_batches(indexer: SearchIndexer) -> None:
    author = make_author()
    Post.objects.bulk_create(Post(title="Same", author=author) for _ in range(2 * POSTS_PER_TRANSACTION + 1))
    update(indexer)
    Author.objects.filter(pk=author.pk).update(name="Kelp")
    assert indexer.write_batch()
    update(indexer)
    assert len(find("kelp")) == 2 * POSTS_PER_TRANSACTION + 1


def test_first_comparison_indexes_all_posts_and_can_be_interrupted() -> None:
    Post.objects.bulk_create(Post(title="Kelp", author=make_author()) for _ in range(2 * POSTS_PER_TRANSACTION + 1))
    indexer = SearchIndexer()
    batches = 1
    while indexer.write_batch():
        batches += 1
    assert batches > 2
    assert len(find("kelp")) == 2 * POSTS_PER_TRANSACTION + 1


def test_change_is_indexed_before_the_rest_of_the_comparison() -> None:
    posts = Post.objects.bulk_create(Post(title="Pier", author=make_author()) for _ in range(3 * POSTS_PER_TRANSACTION))
    indexer = SearchIndexer()
    assert indexer.write_batch()
    Post.objects.filter(pk=posts[0].pk).update(body="kelp")
    assert indexer.write_batch()  # of the comparison, there is more
    assert find("kelp") == {posts[0].pk}


def test_comparison_repairs_what_the_triggers_cannot_see(indexer: SearchIndexer) -> None:
    kept, lost = make_post(body="kelp"), make_post(body="kelp")
    update(indexer)
    stray = PostSearch.objects.get(pk=kept.pk)
    PostSearch.objects.filter(pk__in=[kept.pk, lost.pk]).delete()
    stray.post_id += 1000  # the document of no post
    stray.save(force_insert=True)
    indexer.settled = lost.pk + 1
    update(indexer)
    assert not PostSearch.objects.filter(pk__in=[kept.pk, lost.pk]).exists()
    indexer.next_comparison = 0
    update(indexer)
    assert set(PostSearch.objects.values_list("pk", flat=True)) == {kept.pk, lost.pk}


def test_another_language_replaces_the_documents(settings: Settings) -> None:
    post = make_post(body="Das Haus am Hafen")
    update(SearchIndexer())
    assert find("Häusern") == set()
    set_environment(settings, CONTENTAPI_SEARCH_LANGUAGE="german")
    update(SearchIndexer())
    assert PostSearch.objects.get().language == f"german {indexing.VERSION}"
    assert find("Häusern") == {post.pk}


def test_deletion_removes_the_document(indexer: SearchIndexer) -> None:
    post = make_post()
    update(indexer)
    post.delete()
    assert not PostSearch.objects.exists()


@pytest.mark.parametrize(
    ("number", "limit"), [(100, 2000), pytest.param(35_000, indexing.MAX_DOCUMENT, marks=pytest.mark.thorough)]
)
def test_body_that_exceeds_the_limit_is_indexed_as_far_as_it_fits(
    indexer: SearchIndexer, monkeypatch: pytest.MonkeyPatch, number: int, limit: int
) -> None:
    """Each of these letters has four bytes."""
    monkeypatch.setattr(indexing, "MAX_DOCUMENT", limit)
    letters = [chr(0x20000 + place) for place in range(40_000)]
    words = (f"{letters[n]}{letters[n // 7]}-{letters[n // 3]}{letters[-n]}" for n in range(number))
    body = ("first " + " ".join(words))[: MAX_BODY - 5] + " last"
    large, small = make_post(body=body), make_post(body="first last")
    update(indexer)
    assert find("first") == {large.pk, small.pk}
    assert find("last") == {small.pk}


def test_indexing_needs_the_permission_to_write_all_posts() -> None:
    with pytest.raises(Unauthenticated):
        SearchIndexer().update(Event(), actor=ANONYMOUS)


@pytest.mark.django_db(transaction=True)
def test_concurrent_indexers_write_the_last_text_of_each_post() -> None:
    posts = [make_post(body="kelp") for _ in range(10)]
    stop = False

    def work() -> None:
        indexer = SearchIndexer()
        while not stop:
            update(indexer)
        connection.close()

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(5):
        for post in posts:
            Post.objects.filter(pk=post.pk).update(body=f"lemon{number}")
    stop = True
    for thread in threads:
        thread.join()
    update(SearchIndexer())
    assert find("lemon4") == {post.pk for post in posts}
    assert find("lemon3") == find("kelp") == set()
    assert not SearchChange.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_edit_does_not_wait_for_an_indexer() -> None:
    post = make_post()
    with transaction.atomic():
        assert indexing.lock_index()
        indexing.write_documents([post.pk])

        def edit() -> None:
            execute("SET lock_timeout = '2s'")
            services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": "kelp"})
            assert not indexing.lock_index()
            services.delete_post(actor=OPERATOR, post_id=str(make_post().pk))
            connection.close()

        errors: list[BaseException] = []

        def run() -> None:
            try:
                edit()
            except BaseException as error:  # noqa: BLE001 - reported by the test
                errors.append(error)

        thread = Thread(target=run)
        thread.start()
        thread.join()
        assert not errors
