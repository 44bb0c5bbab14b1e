"""The co-authors of a post: who sets them, what they may do, and whose lists have the post."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from blog import selectors, services
from blog.history import trash, versions
from blog.models import MAX_COAUTHORS, Author, Coauthorship, Post, PostVersion
from blog.search.indexing import write_documents
from blog.selectors.posts import PostCriteria
from contentapi.core.errors import Conflict, Invalid, get_constraint_name
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from contentapi.db.statements import execute
from tests.blog.post_versions import restore_draft
from tests.factories import make_actor, make_author, make_post


def edit(post: Post, *coauthors: Author, **changes: Any) -> Post:
    changes["coauthor_ids"] = [str(author.pk) for author in coauthors]
    return services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)


def list_posts_of(author: Author, actor: Actor = OPERATOR, **criteria: Any) -> list[Post]:
    return list(selectors.posts.select_posts(actor, PostCriteria.parse(author=str(author.pk), **criteria)).queryset())


def test_coauthors_keep_the_order_that_an_editor_sets() -> None:
    post, ines, jo, kim = make_post(), make_author(), make_author(), make_author()

    first, second = edit(post, jo, ines, kim), edit(post, kim, jo)

    assert (first.version, second.version) == (2, 3)
    assert Post.objects.get(pk=post.pk).coauthor_ids == [kim.pk, jo.pk]
    assert edit(post, kim, jo).version == 3


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ("aa", "Co-authors must be unique."),
        ("abw", "The author of a post cannot be a co-author too."),
        ("a0", "There is no author with the id 0."),
        ("ax", "There is no author with the id x."),
        ("abcdefghijk", "At most 10 co-authors are allowed (got 11)."),
    ],
)
def test_coauthors_that_cannot_be_stored_are_refused(ids: str, problem: str) -> None:
    authors = {name: str(make_author().pk) for name in "abcdefghijkw"}
    post = make_post(author=Author.objects.get(pk=authors["w"]))
    values = [authors.get(name, name) for name in ids]

    with pytest.raises(Invalid) as creation:
        services.create_post(actor=OPERATOR, author_id=authors["w"], title="Soup", body="", coauthor_ids=values)
    with pytest.raises(Invalid) as change:
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"coauthor_ids": values})

    assert creation.value.fields == change.value.fields == {"coauthorIds": [problem]}
    assert Post.objects.get().coauthor_ids == []


def test_coauthor_becomes_the_author_together_with_new_coauthors_only() -> None:
    author, coauthor = make_author(), make_author()
    post = make_post(author=author, coauthor_ids=[coauthor.pk])
    new_author = {"author_id": str(coauthor.pk)}

    with pytest.raises(Invalid) as refusal:
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=new_author)
    assert refusal.value.fields == {"authorId": ["This author is a co-author of the post. Change the co-authors too."]}

    changed = edit(post, author, **new_author)
    assert (changed.author, changed.coauthor_ids) == (coauthor, [author.pk])


def test_database_refuses_coauthors_that_no_service_stores() -> None:
    for how in ["insert", "update"]:
        for wrong in ["many", "twice", "author", "null"]:
            post, coauthor = make_post(), make_author()
            ids: dict[str, list[Any]] = {
                "many": [make_author().pk for _ in range(MAX_COAUTHORS + 1)],
                "twice": [coauthor.pk, coauthor.pk],
                "author": [coauthor.pk, post.author.pk],
                "null": [coauthor.pk, None],
            }
            rows = Post.objects.filter(pk=post.pk)
            write: Callable[..., object] = partial(make_post, author=post.author) if how == "insert" else rows.update

            with pytest.raises(IntegrityError) as refusal, transaction.atomic():
                write(coauthor_ids=ids[wrong])

            assert get_constraint_name(refusal.value) == "blog_post_coauthors"


def test_lists_follow_changes_in_sql() -> None:
    author, coauthor = make_author(), make_author()
    post = make_post(author=author, coauthor_ids=[coauthor.pk], status="draft")

    execute("UPDATE blog_post SET status = 'published', created_at = '2020-01-01Z' WHERE id = %s", [post.pk])
    (row,) = Coauthorship.objects.all()
    assert (row.author, row.is_public, row.created_at.year) == (coauthor, True, 2020)
    assert list_posts_of(coauthor, ANONYMOUS) == [post]

    Post.objects.filter(pk=post.pk).update(coauthor_ids=[])
    assert not Coauthorship.objects.exists()
    assert Post.objects.get(pk=post.pk).version == 3


def test_author_who_is_a_coauthor_cannot_be_deleted() -> None:
    coauthor = make_author(name="Ines")
    post = make_post(coauthor_ids=[coauthor.pk])

    with pytest.raises(Conflict, match=r"^Ines is a co-author of posts. Change their co-authors first.$"):
        services.authors.delete_author(actor=OPERATOR, author_id=str(coauthor.pk))

    edit(post)
    services.authors.delete_author(actor=OPERATOR, author_id=str(coauthor.pk))
    assert not Author.objects.filter(pk=coauthor.pk).exists()


def test_lists_have_the_posts_that_the_caller_sees_in_their_order() -> None:
    authors = [make_author() for _ in range(3)]
    actors = {ANONYMOUS: None, OPERATOR: None, make_actor(Role.AUTHOR, author=authors[0]): authors[0]}
    for number in range(12):
        first, *others = [authors[(number + turn) % 3] for turn in range(1 + number % 3)]
        make_post(author=first, coauthor_ids=[each.pk for each in others], status=["draft", "published"][number % 2])

    for (actor, own), status in product(actors.items(), (None, "draft", "published")):
        seen = list(selectors.posts.select_posts(actor, PostCriteria.parse(status=status)).queryset())
        posts = Post.objects.filter(**{"status": status} if status else {}).newest_first()
        shown = [post for post in posts if post.status == "published" or actor is OPERATOR or wrote(own, post)]
        assert seen == shown
        for author in authors:
            assert list_posts_of(author, actor, status=status) == [post for post in shown if wrote(author, post)]


def wrote(author: Author | None, post: Post) -> bool:
    return author is not None and author.pk in (post.author_id, *post.coauthor_ids)


def test_search_by_an_author_finds_the_posts_that_they_wrote_with_others() -> None:
    author, coauthor = make_author(), make_author()
    post = make_post(author=author, coauthor_ids=[coauthor.pk], title="Harbour", status="draft")
    write_documents([post.pk, make_post(title="Harbour").pk])

    assert list_posts_of(coauthor, search="harbour") == [post]
    assert list_posts_of(coauthor, make_actor(Role.AUTHOR, author=coauthor), search="harbour") == [post]
    assert list_posts_of(coauthor, make_actor(Role.AUTHOR), search="harbour") == []


def test_history_names_the_coauthors_and_a_restore_of_a_text_keeps_them() -> None:
    ines, jo = make_author(name="Ines"), make_author(name="Jo")
    post = make_post(title="Old", coauthor_ids=[ines.pk], status="draft")
    edit(post, jo, title="New")

    comparison = versions.compare_versions(actor=OPERATOR, post_id=str(post.pk), old=1, new=2)
    restored = restore_draft(post, 1)

    assert ("coauthor_ids", ["Ines"], ["Jo"]) in comparison.fields
    assert (restored.title, restored.coauthor_ids) == ("Old", [jo.pk])
    earlier = PostVersion.objects.filter(id=post.pk).order_by("version")
    assert list(earlier.values_list("coauthor_ids", flat=True)) == [[ines.pk], [jo.pk]]


def test_restored_post_has_its_coauthors_who_still_exist() -> None:
    ines, jo = make_author(), make_author()
    post = make_post(coauthor_ids=[jo.pk, ines.pk])
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    services.authors.delete_author(actor=OPERATOR, author_id=str(jo.pk))

    restored = trash.restore_deleted_post(actor=OPERATOR, post_id=str(post.pk))

    assert restored.coauthor_ids == [ines.pk]
    assert list_posts_of(ines) == [restored]
