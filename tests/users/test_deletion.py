"""Lists and deletion of users. tests/contract/test_permission_table.py tests the permissions."""

import pytest

from blog.models import Author, Comment, Post
from contentapi.core.errors import ApiError, Unauthenticated
from contentapi.core.identity import OPERATOR, Role
from orders.models import Order
from tests.blog.racing import race
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from users import selectors, services
from users.authentication import authenticate
from users.models import ApiKey, User


def test_deleted_user_loses_their_keys_and_leaves_posts_and_orders() -> None:
    user, other = make_user(Role.AUTHOR), make_user()
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="test")
    services.create_api_key(actor=OPERATOR, email=other.email, name="test")
    author = make_author(user=user, name="Ines")
    post, order = make_post(author=author), make_order(user=user)
    comment = make_comment(post)

    services.delete_user(actor=OPERATOR, user_id=str(user.pk))

    assert list(User.objects.all()) == [other]
    assert [kept.user for kept in ApiKey.objects.all()] == [other]
    assert list(Author.objects.values("pk", "name", "user")) == [{"pk": author.pk, "name": "Ines", "user": None}]
    assert list(Post.objects.values_list("pk", "author")) == [(post.pk, author.pk)]
    assert list(Comment.objects.values_list("pk", "author")) == [(comment.pk, author.pk)]
    assert list(Order.objects.values("pk", "user")) == [{"pk": order.pk, "user": None}]
    with pytest.raises(Unauthenticated):
        authenticate({"X-API-Key": key})


def test_users_are_listed_by_creation_and_a_reader_sees_themselves_only() -> None:
    later = [make_user(pk=10**12 + number) for number in (3, 1, 2)]  # than the ids that sequences give
    reader = make_actor(Role.READER)

    assert list(selectors.select_users(OPERATOR).queryset())[1:] == [later[1], later[2], later[0]]
    assert [user.pk for user in selectors.select_users(reader).queryset()] == [reader.user_id]


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_deletions_succeeds() -> None:
    user = make_user()
    user_id = str(user.pk)

    def delete() -> str:
        try:
            services.delete_user(actor=OPERATOR, user_id=user_id)
        except ApiError as refusal:
            return refusal.code
        return "done"

    outcomes = race(lambda: User.objects.select_for_update().get(pk=user.pk), delete, delete)

    assert sorted(outcomes) == ["NOT_FOUND", "done"]
