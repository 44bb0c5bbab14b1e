"""Authors in the admin site."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from blog import policy, selectors, services
from blog.desk import writers
from blog.models import Author
from contentapi.core.identity import Actor
from contentapi.desk.bases import Page, get_actor
from contentapi.desk.service_admin import ServiceAdmin, ServiceForm


@admin.register(Author)
class AuthorAdmin(ServiceAdmin):
    list_display = ["name", "email", "user"]
    list_select_related = ["user"]
    search_fields = ["name__folded", "email__folded"]
    ordering = ["name"]
    fields = ["name", "bio", "avatar_url", "email", "user"]
    formfield_overrides: ClassVar = {**ServiceAdmin.formfield_overrides, models.URLField: {"assume_scheme": "https"}}
    autocomplete_fields: ClassVar = ["user"]
    pages: ClassVar = [Page("choose/", "choose", writers.suggest_writers)]
    may_open = staticmethod(policy.may_write_posts)
    may_add = staticmethod(policy.may_manage_posts_and_authors)
    select_rows = staticmethod(selectors.select_editable_authors)
    find_row = staticmethod(selectors.find_author)

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
        return writers.offer_accounts(super().formfield_for_dbfield(db_field, request, **options))

    def create(self, actor: Actor, row: Author, form: ServiceForm) -> Author:
        return services.create_author(actor=actor, author=row)

    def edit(self, actor: Actor, row: Author, form: ServiceForm) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        services.edit_author(actor=actor, author_id=str(row.pk), changes=changes)

    def delete(self, actor: Actor, row: Author) -> None:
        services.delete_author(actor=actor, author_id=str(row.pk))
