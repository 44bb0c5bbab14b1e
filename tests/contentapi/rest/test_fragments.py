"""Fragments of representations: spreads, and the errors that name the file."""

from pathlib import Path

import pytest
from ariadne import make_executable_schema

from blog.models import Author, Comment
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.projection import Projection, ProjectionError, ToOne
from contentapi.rest.fragments import RepresentationFragments
from contentapi.rest.representations import Representation

SDL = "type Query { comment: Comment } type Author { id: ID! name: String! } type Comment { id: ID! author: Author! }"
AUTHOR = "fragment AuthorResource on Author { id name }"


def bind(folder: Path, comment: str, author: str = AUTHOR) -> Representation:
    """Bind the representations of a comment and its author. Return that of the comment."""
    (folder / "author.graphql").write_text(author)
    (folder / "comment.graphql").write_text(f"fragment CommentResource on Comment {comment}")
    authors, comments = Projection("Author", Author), Projection("Comment", Comment, {"author": ToOne("author")})
    found = Representation(comments)
    fragments = RepresentationFragments(folder, [Representation(authors), found])
    make_executable_schema(SDL, ProjectionBindable([authors, comments]), fragments)
    return found


def test_fragment_that_spreads_another_has_the_fields_of_both(tmp_path: Path) -> None:
    selection = bind(tmp_path, "{ id author { id ...AuthorResource } }").selection

    assert [(each.key, [below.key for below in each.selection]) for each in selection] == [
        ("id", []),
        ("author", ["id", "name"]),
    ]


@pytest.mark.parametrize(
    ("comment", "author", "message"),
    [
        ("{ id id: author { id } }", AUTHOR, "comment.graphql: Fields 'id' conflict"),
        ("{ author { ...Nothing } }", AUTHOR, "comment.graphql: Unknown fragment 'Nothing'."),
        ("{ ...AuthorResource }", AUTHOR, "comment.graphql: Fragment 'AuthorResource' cannot be spread here"),
        ("{ id @skip(if: true) }", AUTHOR, "comment.graphql must contain one fragment, without directives."),
        ("{ ...CommentResource }", AUTHOR, "comment.graphql: Cannot spread fragment 'CommentResource' within itself."),
        ("{ id ", AUTHOR, "comment.graphql: Syntax Error"),
        ("{ id }", f"{AUTHOR} {AUTHOR}", "author.graphql must contain one fragment, without directives."),
        ("{ id }", "{ comment { id } }", "author.graphql must contain one fragment, without directives."),
    ],
)
def test_wrong_fragment_is_an_error_that_names_its_file(
    tmp_path: Path, comment: str, author: str, message: str
) -> None:
    with pytest.raises(ProjectionError) as caught:
        bind(tmp_path, comment, author)

    assert message in str(caught.value)
