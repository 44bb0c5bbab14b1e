"""Saves of drafts and working copies that a script makes while a person writes (blog/static/blog/autosave.js)."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from blog import services
from blog.desk.posts import copies
from blog.desk.posts.save import StateForm
from blog.models import ADDRESSES, CONTENT, Post, PostStatus
from contentapi.core.errors import ApiError, Invalid
from contentapi.core.identity import Actor
from users.desk.bases import Page, PolicyAdmin, get_actor


@require_POST
def save_text(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Save the text of a form in the draft or in the working copy. Return the versions that the form then shows.

    Neither the state nor the author changes. A form that is not valid, such as one without a title, is not saved.
    """
    actor, post = get_actor(request), model_admin.get_object(request, object_id)
    if not model_admin.may_change(actor, post):
        raise PermissionDenied
    form = model_admin.get_form(request, post, change=True)(request.POST, instance=post)
    try:
        if not form.is_valid():
            raise Invalid(form.errors)
        return JsonResponse(save_form(actor, post, form))
    except ApiError as error:
        return JsonResponse({"problem": error.message}, status=error.status)


def save_form(actor: Actor, post: Post, form: StateForm) -> dict[str, Any]:
    """Save the text of a valid form. Return the hidden fields, and the addresses that were made from the title."""
    opened_version, opened_copy = form.cleaned_data["opened_version"], form.cleaned_data["opened_copy"]
    if opened_copy is not None:
        copy = copies.save_text(actor, post, form)
        content = copy.content if copy else {}
        versions = {"opened_copy": copy.version if copy else opened_copy, "opened_version": opened_version}
    else:
        changes = {name: value for name, value in form.post_changes.items() if name in CONTENT}
        if changes and post.status == PostStatus.DRAFT:
            version = str(opened_version)
            post = services.edit_post(actor=actor, post_id=str(post.pk), changes=changes, expected_version=version)
            opened_version = post.version
        content, versions = vars(post), {"opened_copy": "", "opened_version": opened_version}
    addresses = {name: content[name] or "" for name in ADDRESSES if name in content}
    return {"versions": versions, "addresses": addresses, "saved_at": timezone.now().isoformat()}


PAGES = [Page("<str:object_id>/autosave/", "autosave", save_text)]
