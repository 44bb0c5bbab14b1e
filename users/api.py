"""What users add to the API."""

from django.urls import include, path

from contentapi.events.declarations import App, Entry, EventSource, Group, Type
from users import password_pages, policy, projections, resolvers, selectors, views

ACTIONS = ("created", "updated", "deleted")
EVENTS = EventSource(ACTIONS, policy.USER_EVENTS, views.USER)

API = App(
    types=[Type(projections.USER, selectors.select_user_node, EVENTS)],
    projections=projections.PROJECTIONS,
    representations=[views.USER],
    bindables=resolvers.BINDABLES,
    resources={"users": views.UserCollection, "users/<str:user_id>": views.UserResource},
    pages=[
        path("admin/password/forgotten", password_pages.forgotten_password, name="forgotten_password"),
        path("admin/password/sent", password_pages.show_sent, name="password_link_sent"),
        path("admin/password/link", password_pages.follow_link, name="password_link"),
        path("admin/password/new", password_pages.new_password, name="new_password"),
        path("admin/password/chosen", password_pages.show_chosen, name="password_chosen"),
        path("", include("users.oauth.urls")),
    ],
    jobs="users.background",
    sidebar=[
        Entry("API keys", "key", "users.ApiKey", Group.ACCOUNT),
        Entry("Users", "group", "users.User", Group.ADMINISTRATION),
        Entry("Applications", "apps", "oauth2_provider.Application", Group.ADMINISTRATION),
        Entry("Connected applications", "verified_user", "oauth2_provider.RefreshToken", Group.ADMINISTRATION),
    ],
    links=["users"],
)
