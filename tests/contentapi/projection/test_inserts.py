"""Rows that are read by the statement that inserts them: the same answer as reading back, or reading back."""

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


def statements_of(executed: Executed) -> list[str]:
    """Return the statements, without the transaction around a mutation that selects lists of objects."""
    return [sql for sql, _ in executed.statements if not sql.startswith(("SAVEPOINT", "RELEASE"))]


@pytest.mark.parametrize(
    "selection",
    [
        "{ id title body status tags publishAt createdAt updatedAt version __typename }",
        "{ a: title b: title author { id name email } }",
        "{ comments(limit: $n) { id author { name } } commentCount commentsConnection(first: $n) { totalCount } }",
        "{ " + "a" * 70 + ": title }",
        "{ __typename }",
    ],
)
def test_a_new_post_is_answered_by_one_statement_as_it_is_read_later(selection: str) -> None:
    written = write(selection, author=make_author(), tags=["a", 'b"c\\'])

    [post] = Post.objects.all()
    read = run(f"{{ post(id: {post.pk}) {selection.replace('$n', '5')} }}", actor=OPERATOR)
    assert written.data["createPost"] == read.data["post"]
    assert len(statements_of(written)) == 1


def test_other_rows_of_its_table_are_read_with_the_new_one_among_them() -> None:
    author = make_author()
    other = make_post(author=author)

    written = write("{ title author { posts { id } } }", author=author)

    new = Post.objects.exclude(pk=other.pk).get()
    assert [each["id"] for each in written.data["createPost"]["author"]["posts"]] == [str(new.pk), str(other.pk)]
    assert len(statements_of(written)) == 2


@pytest.mark.parametrize("selection", ["{ comments(limit: $n) { id } }", "{ author { posts(limit: $n) { id } } }"])
def test_a_wrong_argument_below_it_is_refused_before_anything_is_written(selection: str) -> None:
    written = write(selection, author=make_author(), n=-1)

    [error] = written.errors
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert error["path"][0] == "createPost"
    assert not Post.objects.exists()


def test_a_cursor_of_another_posts_comments_is_refused_and_nothing_is_written() -> None:
    other = make_post()
    make_comment(other)
    edges = run(f"{{ post(id: {other.pk}) {{ commentsConnection {{ edges {{ cursor }} }} }} }}").data["post"]
    cursor = edges["commentsConnection"]["edges"][0]["cursor"]

    written = write(
        f'{{ id commentsConnection(after: "{cursor}") {{ totalCount edges {{ cursor }} }} }}', author=other.author
    )

    assert [error["extensions"]["code"] for error in written.errors] == ["BAD_REQUEST"]
    assert Post.objects.get() == other


def test_an_author_who_is_not_there_is_told_and_nothing_is_written() -> None:
    gone = make_author()
    gone.delete()

    written = write("{ id }", author=Author(pk=4711))

    assert [error["extensions"]["code"] for error in written.errors] == ["INVALID"]
    assert written.errors[0]["extensions"]["fields"] == {"authorId": ["There is no author with this id."]}
    assert not Post.objects.exists()


def test_each_mutation_of_an_operation_answers_with_its_own_post() -> None:
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


def test_whoever_has_no_profile_yet_gets_one_in_the_same_transaction() -> None:
    actor = make_actor(Role.AUTHOR)

    written = write("{ author { name posts { title } } }", actor=actor)

    assert written.data["createPost"]["author"]["posts"] == [{"title": "Soup"}]


def test_a_column_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="no columns author, titel"):
        PreparedInsert(Post).create(titel="t", author=make_author())


def test_what_is_required_must_be_there() -> None:
    values = {"title": "t", "body": "", "status": "draft"}

    with pytest.raises(Author.DoesNotExist):
        PreparedInsert(Post, requiring="author").create(**values, author_id=4711)

    assert not Post.objects.exists()
    assert PreparedInsert(Post, requiring="author").create(**values, author_id=make_author().pk).pk


def test_what_is_inserted_and_read_is_undone_with_its_transaction() -> None:
    author = make_author()

    with transaction.atomic():
        assert write("{ id }", author=author).data["createPost"]
        transaction.set_rollback(True)

    assert not Post.objects.exists()
