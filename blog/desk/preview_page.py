"""The page at which people without an account read a preview link, where no web site shows it."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from blog import selectors, services
from contentapi.core.errors import ApiError
from contentapi.core.identity import ANONYMOUS
from contentapi.http.previews import PRIVATE
from contentapi.http.request_log import classify_and_record
from contentapi.rate_limits.account import charge_limits
from contentapi.rate_limits.limits import PREVIEWS
from users.pages import render_page


@require_safe
def show_preview_page(request: HttpRequest) -> HttpResponse:
    """Render the text that the token in the address shows. The address is not logged, and no other site learns it."""
    try:
        actor = services.add_preview(ANONYMOUS, request.GET.get("token", ""))
        headers = charge_limits(PREVIEWS, key=actor.preview.payer) if actor.preview else {}
        post = selectors.find_previewed_post(actor)
        response = render_page(request, "blog/preview_page.html", {"post": post}, images="http: https:")
    except ApiError as refusal:
        error = classify_and_record(refusal)
        headers = error.headers
        context = {"message": error.message, "is_over_limit": "Retry-After" in headers}
        response = render_page(request, "blog/preview_ended.html", context, status=error.status)
    for name, value in {**headers, **PRIVATE, "Referrer-Policy": "no-referrer"}.items():
        response[name] = value
    return response
