"""Inserted rows: the INSERT selects the same JSON as a later read, or the row is read by a second statement."""

import json
from typing import Any

import pytest
from django.db import transaction

from blog.models import Author, Post
from contentapi.core.identity import OPERATOR, Role
from contentapi.projection import PreparedInsert
from tests.contentapi.projection.execution import Executed, run
from tests.factories import make_actor, make_author, make_comment, make_post

pytestmark = pytest.mark.django_db


def write(selection: str, *, actor: Any = OPERATOR, author: Author | None = None, n: int = 5, **more: Any) -> Executed:
    values = {"title": "Soup", "body": "Boil.", "authorId": author and str(author.pk), **more}
    head = "$input: CreatePostInput!" + (", $n: Int" if "$n" in selection else "")
    return run(f"mutation ({head}) {{ createPost(input: $input) {selection} }}", {"input": values, "n": n}, actor=actor)


def without_savepoints(executed: Executed) -> list[str]:
    """Return the statements without those of the transaction around a mutation that selects lists of objects."""
    return [sql for sql, _ in executed.statements if not sql.startswith(("SAVEPOINT", "RELEASE"))]


@pytest.mark.parametrize(
    "selection",
    [
        "{ id title body status tags publishAt publishedAt createdAt updatedAt version __typename }",
        "{ a: title b: title author { id name email } }",
        "{ comments(limit: $n) { id author { name } } commentCount commentsConnection(first: $n) { totalCount } }",
        "{ " + "a" * 70 + ": title }",
        "{ __typename }",
    ],
)
def test_one_statement_inserts_a_post_and_selects_it(selection: str) -> None:
    written = write(selection, author=make_author(), tags=["a", 'b"c\\'])

    [post] = Post.objects.all()
    read = run(f"{{ post(id: {post.pk}) {selection.replace('$n', '5')} }}", actor=OPERATOR)
    assert written.data["createPost"] == read.data["post"]
    assert len(without_savepoints(written)) == 1


def test_selection_of_other_rows_of_the_table_includes_the_new_row() -> None:
    author = make_author()
    other = make_post(author=author)

    written = write("{ title author { posts { id } } }", author=author)

    new = Post.objects.exclude(pk=other.pk).get()
    assert [each["id"] for each in written.data["createPost"]["author"]["posts"]] == [str(new.pk), str(other.pk)]
    assert len(without_savepoints(written)) == 2


@pytest.mark.parametrize("selection", ["{ comments(limit: $n) { id } }", "{ author { posts(limit: $n) { id } } }"])
def test_wrong_nested_argument_is_refused_before_the_insertion(selection: str) -> None:
    written = write(selection, author=make_author(), n=-1)

    [error] = written.errors
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert error["path"][0] == "createPost"
    assert not Post.objects.exists()


def test_cursor_of_another_post_is_refused_and_nothing_is_inserted() -> None:
    other = make_post()
    make_comment(other)
    edges = run(f"{{ post(id: {other.pk}) {{ commentsConnection {{ edges {{ cursor }} }} }} }}").data["post"]
    cursor = edges["commentsConnection"]["edges"][0]["cursor"]

    written = write(
        f'{{ id commentsConnection(after: "{cursor}") {{ totalCount edges {{ cursor }} }} }}', author=other.author
    )

    assert [error["extensions"]["code"] for error in written.errors] == ["BAD_REQUEST"]
    assert Post.objects.get() == other


@pytest.mark.parametrize("place", ["createPost(input: NEW)", "updatePost(input: CHANGE)"])
def test_mutation_whose_selection_is_refused_after_it_is_rolled_back(place: str) -> None:
    other = make_post(title="Old")
    make_comment(other)
    edges = run(f"{{ post(id: {other.pk}) {{ commentsConnection {{ edges {{ cursor }} }} }} }}").data["post"]
    cursor = edges["commentsConnection"]["edges"][0]["cursor"]
    changed = make_post(title="Old", author=other.author)
    field = place.replace("NEW", f'{{title: "New", body: "", authorId: {other.author.pk}}}')
    field = field.replace("CHANGE", f'{{id: {changed.pk}, title: "New"}}')

    executed = run(
        f'mutation {{ {field} {{ commentsConnection(first: 1, after: "{cursor}") {{ totalCount }}'
        " author { postsConnection(first: 1) { totalCount } } } }",
        actor=OPERATOR,
    )

    assert [error["extensions"]["code"] for error in executed.errors] == ["BAD_REQUEST"]
    assert set(Post.objects.values_list("title", flat=True)) == {"Old"}


def test_each_mutation_of_an_operation_returns_its_own_post() -> None:
    author = make_author()
    one, two = (f'{{title: "{title}", body: "", authorId: {author.pk}}}' for title in ("One", "Two"))

    executed = run(
        f"mutation {{ a: createPost(input: {one}) {{ title id }} b: createPost(input: {two}) {{ title }}"
        " c: deletePost(id: 0) }",
        actor=OPERATOR,
    )

    assert json.loads(executed.content)["data"] == {
        "a": {"title": "One", "id": str(Post.objects.get(title="One").pk)},
        "b": {"title": "Two"},
        "c": None,
    }


def test_actor_without_a_profile_gets_one_in_the_same_transaction() -> None:
    actor = make_actor(Role.AUTHOR)

    written = write("{ author { name posts { title } } }", actor=actor)

    assert written.data["createPost"]["author"]["posts"] == [{"title": "Soup"}]


def test_unknown_column_raises() -> None:
    with pytest.raises(TypeError, match="no columns author, titel"):
        PreparedInsert(Post).create({"titel": "t", "author": make_author()})


def test_row_is_inserted_only_if_the_required_row_exists() -> None:
    values = {"title": "t", "body": "", "status": "draft"}

    assert PreparedInsert(Post, requiring="author").create({**values, "author_id": 0}) is None
    assert not Post.objects.exists()
    assert PreparedInsert(Post, requiring="author").create({**values, "author_id": make_author().pk})


def test_required_row_is_found_by_another_field() -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author)
    posts = PreparedInsert(Post, requiring="author", found_by="user")
    values = {"title": "t", "body": "", "status": "draft"}

    post = posts.create({**values, "user_id": actor.user_id})

    assert post
    assert (post.author_id, Post.objects.get().author) == (author.pk, author)
    for user_id in (None, 0):
        assert posts.create({**values, "user_id": user_id}) is None


def test_rollback_undoes_an_insertion_that_selects() -> None:
    author = make_author()

    with transaction.atomic():
        assert write("{ id }", author=author).data["createPost"]
        transaction.set_rollback(True)

    assert not Post.objects.exists()
