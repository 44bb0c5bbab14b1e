"""The root fields of users. Each calls one selector or one service."""

from ariadne import MutationType, QueryType

from contentapi.graphql.root_fields import bind_fields, build_sort, pass_arguments, pass_id
from users import selectors, services

QUERY = {
    "viewer": pass_arguments(selectors.select_viewer),
    "user": pass_id(selectors.select_user_by_id),
    "users": pass_arguments(selectors.select_users_page),
}
MUTATION = {
    "createUser": pass_arguments(services.create_user),
    "deleteUser": pass_arguments(services.delete_user, "user_id", payload="deleted_user_id"),
}
BINDABLES = [
    bind_fields(QueryType(), QUERY),
    bind_fields(MutationType(), MUTATION),
    *build_sort("User", selectors.USER_SORT_FIELDS),
]
