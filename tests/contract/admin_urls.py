"""Every page of the admin site, by the name of its URL, and which roles may use it.

The actions of the permission table are in `admin_pages`. This table has each URL of the site, also those that only
scripts call. A row has a request and its outcome for each role.
"""

from typing import Any

from tests.contract.admin_requests import (
    ADMINS_MAY,
    ADMINS_SEE,
    ALL,
    EDITORS_MAY,
    EDITORS_SEE,
    HIDDEN,
    NOBODY,
    ONLY_ADMINS_SEE,
    ONLY_EDITORS_SEE,
    PAGE,
    Page,
    act_on,
    find_authors,
    get_app,
    get_changes,
    get_copy,
    get_delivery,
    get_object,
    get_page,
    get_version,
    list_deleted,
    list_pages,
    perform_in_list,
    post_object,
    preview_draft,
    renew_secret,
    restore_copy,
    restore_deleted,
    restore_selected,
    restore_version,
    revoke_link,
    send_again,
    view_on_site,
)
from tests.contract.permissions import OTHERS, OWN, Outcome
from tests.contract.types import collect_rows

PRESENCE = {"_page": PAGE}
PAGES = [
    Page("index", OWN, ALL, get_page),
    Page("search", OWN, ALL, get_page),
    Page("jsi18n", OWN, ALL, get_page),
    Page("password_change", OWN, ALL, get_page),
    Page("password_change_done", OWN, ALL, get_page),
    Page("app_list", OTHERS, ADMINS_SEE, get_app),
    Page("view_on_site", OWN, HIDDEN, view_on_site),
    Page("autocomplete", OTHERS, EDITORS_SEE, find_authors),
    Page("blog_author_choose", OTHERS, EDITORS_MAY, find_authors),
    Page("blog_post_changelist", OWN, ALL, get_page),
    Page("blog_post_add", OWN, ALL, get_page),
    *[
        Page(f"blog_post_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, ALL), (OTHERS, EDITORS_SEE))
        for name, send in (
            ("change", get_object),
            ("delete", get_object),
            ("history", get_object),
            ("events", get_object),
            ("version", get_version),
            ("restore_version", restore_version),
            ("changes", get_changes),
            ("copy", get_copy),
            ("restore_copy", restore_copy),
            ("deleted", list_deleted),
            ("restore_deleted", restore_deleted),
            ("restore_selected", restore_selected),
            ("preview", preview_draft),
            ("presence", post_object(PRESENCE)),
            ("autosave", post_object({"title": "New", "opened_version": "1"})),
            ("open_preview", post_object({"site": "page"})),
            ("create_preview_link", post_object({"days": "7"})),
            ("revoke_preview_link", revoke_link),
        )
    ],
    Page("blog_post_take_over", OWN, ALL, post_object({"title": "Mine", "body": "My text"})),
    Page("blog_post_take_over", OTHERS, EDITORS_SEE, post_object({"title": "Mine", "body": "My text"})),
    Page("blog_post_bulk", OWN, ALL, perform_in_list("archive")),
    Page("blog_post_bulk", OTHERS, EDITORS_SEE, perform_in_list("archive")),
    Page("blog_post_tags", OWN, ALL, get_page),
    Page("blog_post_session", OWN, ALL, get_page),
    *list_pages("blog_author", ALL, EDITORS_MAY, ALL, EDITORS_MAY),
    Page("blog_author_change", OWN, ALL),
    *list_pages("blog_comment", ALL, EDITORS_MAY, EDITORS_SEE, ONLY_EDITORS_SEE),  # `blog_comment_action` deletes
    Page("blog_comment_action", OTHERS, EDITORS_SEE, act_on("hide")),
    Page("blog_comment_bulk", OTHERS, EDITORS_SEE, perform_in_list("hide")),
    Page("blog_importjob_changelist", OWN, EDITORS_MAY, get_page),
    Page("blog_importjob_add", OWN, EDITORS_MAY, get_page),
    *[
        Page(f"blog_importjob_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, EDITORS_SEE), (OTHERS, ADMINS_SEE))
        for name, send in (
            ("change", get_object),
            ("progress", get_object),
            ("start", post_object({})),
            ("cancel", post_object({})),
            ("undo", post_object({})),
        )
    ],
    Page("blog_importjob_history", OTHERS, ADMINS_SEE),
    Page("blog_importjob_delete", OWN, ONLY_EDITORS_SEE),
    *list_pages("events_webhook", ADMINS_MAY, ADMINS_MAY, ADMINS_SEE, ADMINS_SEE),
    Page("events_webhook_action", OTHERS, ADMINS_SEE, act_on("disable")),
    Page("events_webhook_bulk", OTHERS, ADMINS_MAY, perform_in_list("disable")),
    Page("events_webhook_deliveries", OTHERS, ADMINS_SEE),
    Page("events_webhook_delivery", OTHERS, ADMINS_SEE, get_delivery),
    Page("events_webhook_redeliver", OTHERS, ADMINS_SEE, send_again),
    *list_pages("oauth2_provider_application", ADMINS_MAY, ADMINS_MAY, ADMINS_SEE, ADMINS_SEE),
    Page("oauth2_provider_application_action", OTHERS, ADMINS_SEE, renew_secret),
    *list_pages("oauth2_provider_refreshtoken", ADMINS_MAY, NOBODY, ADMINS_SEE, ONLY_ADMINS_SEE),
    Page("auth_user_password_change", OTHERS, ADMINS_SEE),
    Page("users_apikey_changelist", OWN, ALL, get_page),
    Page("users_apikey_add", OWN, ALL, get_page),
    Page("users_apikey_change", OWN, ALL),
    Page("users_apikey_change", OTHERS, ADMINS_SEE),
    Page("users_apikey_history", OTHERS, ADMINS_SEE),
    Page("users_apikey_delete", OWN, NOBODY),
    Page("users_apikey_action", OWN, ALL, act_on("revoke")),
    Page("users_apikey_action", OTHERS, ADMINS_SEE, act_on("revoke")),
    Page("users_apikey_bulk", OWN, ALL, perform_in_list("revoke")),
    Page("users_apikey_bulk", OTHERS, ADMINS_SEE, perform_in_list("revoke")),
    *collect_rows("PAGES"),
]


def name_outcome(response: Any) -> Outcome:
    """Return `ok`, or the status of a refusal, which is an HTML page or, for a script, JSON."""
    if isinstance(response, str):
        return response
    return str(response.status_code) if response.status_code >= 400 else "ok"
