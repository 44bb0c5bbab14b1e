"""Authors in the admin site, and the choice of one in forms: among authors, and accounts without an author profile."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from blog import policy, selectors, services
from blog.desk import queries
from blog.models import AUTHOR_OWN, Author
from contentapi.auth.sessions import get_actor
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.lists import read_page_number
from contentapi.types.own_form import OwnFieldsField, keep_changes

ACCOUNT = "account-"  # before the id of a user, in the value of a field for an author
FIELDS = ("author", "coauthor_ids")
OWN = ["own"] if AUTHOR_OWN.fields else []


def offer_accounts(field: Any) -> Any:
    """Let a field with suggestions, if it is one, suggest what `suggest_writers` finds. Return the field."""
    widget = getattr(field.widget, "widget", field.widget)
    if hasattr(widget, "url_name"):
        widget.url_name = "%s:blog_author_choose"
    return field


@require_GET
def suggest_writers(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return a page of the authors whose name or email has a text; after the last one, or for `user`, accounts."""
    actor, term = get_actor(request), request.GET.get("term", "")
    require_permission(actor, policy.may_manage_posts_and_authors(actor), "choose authors")
    is_account = request.GET.get("field_name") == "user"
    page = read_page_number(request)
    authors, has_more = ([], False) if is_account else queries.find_authors(actor, term, page)
    accounts = [] if has_more else queries.find_accounts(term)
    mark, note = ("", "") if is_account else (ACCOUNT, " (no author profile yet)")
    results = [{"id": str(author.pk), "text": author.name} for author in authors]
    results += [{"id": f"{mark}{user.pk}", "text": f"{user.name}{note}"} for user in accounts]
    return JsonResponse({"results": results, "pagination": {"more": has_more}})


def create_chosen_profiles(request: HttpRequest) -> None:
    """Replace the accounts that a form has chosen as authors by their author profiles, which are created."""
    values = request.POST
    chosen = [name for name in FIELDS if any(value.startswith(ACCOUNT) for value in values.getlist(name))]
    if not chosen or not policy.may_manage_posts_and_authors(get_actor(request)):
        return
    changed = values.copy()
    for name in chosen:
        changed.setlist(name, [find_author_id(request, value) for value in values.getlist(name)])
    request.POST = changed  # type: ignore[assignment]  # mutable, as Django itself sets it


def find_author_id(request: HttpRequest, value: str) -> str:
    """Return the id of the author that a value of a form names; 0, which the field refuses, for no account."""
    if not value.startswith(ACCOUNT):
        return value
    try:
        author = services.authors.get_or_create_profile(actor=get_actor(request), user_id=value.removeprefix(ACCOUNT))
    except Invalid:
        return "0"
    return str(author.pk)


class AuthorForm(ServiceForm):
    """The form of an author, with the own fields of the SDL."""

    if OWN:
        own = OwnFieldsField(AUTHOR_OWN)

    def clean_own(self) -> dict[str, Any]:
        return keep_changes(AUTHOR_OWN, self.initial.get("own"), self.cleaned_data["own"])


@admin.register(Author)
class AuthorAdmin(PolicyAdmin):
    list_display = ["name", "email", "user"]
    list_select_related = ["user"]
    search_fields = ["name__folded", "email__folded"]
    ordering = ["name"]
    form = AuthorForm
    fields = ["name", "bio", "avatar_url", "email", "user", *OWN]
    formfield_overrides: ClassVar = {**PolicyAdmin.formfield_overrides, models.URLField: {"assume_scheme": "https"}}
    autocomplete_fields: ClassVar = ["user"]
    pages: ClassVar = [Page("choose/", "choose", suggest_writers)]
    may_open = staticmethod(policy.may_write_posts)
    may_add = staticmethod(policy.may_manage_posts_and_authors)
    select_rows = staticmethod(selectors.authors.select_editable_authors)
    find_row = staticmethod(selectors.authors.find_author)

    def may_change(self, actor: Actor, row: Author | None) -> bool:
        return policy.may_write_posts(actor) if row is None else policy.may_edit_author(actor, row.user_id)

    def may_delete(self, actor: Actor, row: Author | None) -> bool:
        return policy.may_manage_posts_and_authors(actor)

    def get_fields(self, request: HttpRequest, obj: Author | None = None) -> list[str]:
        """Return the fields that the actor may see: the account for editors, the email also for the author."""
        actor = get_actor(request)
        hidden = set() if policy.may_manage_posts_and_authors(actor) else {"user"}
        if obj and not policy.may_see_author_email(actor, obj.user_id):
            hidden.add("email")
        return [name for name in self.fields if name not in hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Author | None = None) -> list[str]:
        return [] if policy.may_manage_posts_and_authors(get_actor(request)) else ["email"]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return offer_accounts(super().formfield_for_dbfield(db_field, request, **options))

    create = staticmethod(lambda actor, row, _: services.authors.create_author(actor=actor, author=row))
    delete = staticmethod(lambda actor, row: services.authors.delete_author(actor=actor, author_id=str(row.pk)))

    def edit(self, actor: Actor, row: Author, form: ServiceForm) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        services.authors.edit_author(actor=actor, author_id=str(row.pk), changes=changes)
