"""Imports in the admin site: upload a zip file, read what would happen, start, cancel or undo, follow the progress."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from blog import policy
from blog.files import jobs
from blog.files.archives import MAX_ARCHIVE, MAX_CONTENT, MAX_FILES, MEGABYTE
from blog.files.importing import DEFAULT_STATE, STATES, ImportOutcome
from blog.files.reading import MAX_FILE
from blog.models import MAX_NAME, ImportJob, ImportState, PostSource, PostStatus
from contentapi.auth.sessions import get_actor
from contentapi.core.errors import Invalid
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.rendering import build_column, build_time_column, render_time

# The outcomes in the words of the editors: of the plan, and of the import.
LABELS: Mapping[str, tuple[str, str]] = {
    ImportOutcome.CREATED: ("new post", "created"),
    ImportOutcome.UPDATED: ("changes its post", "changed"),
    ImportOutcome.UNCHANGED: ("unchanged", "unchanged"),
    ImportOutcome.NOT_A_POST: ("not a post", "not a post"),
    ImportOutcome.REFUSED: ("refused", "refused"),
    jobs.UNDONE: ("deleted again", "deleted again"),
}
WORK: Mapping[str, str] = {ImportState.CHECKING: "files checked", ImportState.UNDOING: "posts processed"}
COLORS = dict.fromkeys(["checking", "importing", "undoing"], "info")
COLORS |= {"checked": "warning", "done": "success", "failed": "danger"}
CHANGE = "admin:blog_importjob_change"  # the page of an import
FILES = 100  # of a page
NO_WORKER = "Nothing is doing this import: the process “worker” is not running. Ask the operator to start it."


class UploadForm(forms.Form):
    archive = forms.FileField(
        label="Zip file",
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".zip,application/zip", "data-limit": MAX_ARCHIVE}),
        help_text=f"The folder of a site as a zip file: at most {MAX_ARCHIVE // MEGABYTE} MB and {MAX_FILES:,} files; "
        f"the Markdown files at most {MAX_CONTENT // MEGABYTE} MB together and {MAX_FILE // MEGABYTE} MB each. "
        "Images that a post names are imported with it; other files are left out.",
    )
    source = forms.CharField(
        label="Name of the source",
        required=False,
        max_length=MAX_NAME,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "the name of the folder in the zip file"}),
        help_text="A file is known by this name and its path: importing it again changes its post. Use one name for "
        "each site, and always the same one. If this is empty, it is the name of the only folder in the zip file, or "
        "else the name of the zip file.",
    )
    status = forms.ChoiceField(
        label="Status of posts whose file states none",
        choices=[(status.value, status.label) for status in STATES],
        initial=DEFAULT_STATE,
        widget=UnfoldAdminSelectWidget,
        help_text="Drafts in the files stay drafts. A post with a date in the future is scheduled, not published.",
    )


@require_POST
def change_state(
    request: HttpRequest, model_admin: PolicyAdmin, object_id: str, change: Callable[..., Any]
) -> HttpResponse:
    job = model_admin.get_object(request, object_id)
    change(actor=get_actor(request), job_id=object_id)
    return redirect(CHANGE, job.pk)


@never_cache
def undo(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show what undoing an import would do; undo it when this is confirmed."""
    if request.method == "POST":
        return change_state(request, model_admin, object_id, change=jobs.start_undo)
    job = jobs.find_import_job(actor=get_actor(request), job_id=object_id)
    if not jobs.may_be_undone(job):
        return redirect(CHANGE, job.pk)
    context = {"title": f"Undo the import of {job.file_name}", "job": job, "plan": jobs.plan_undo(job)}
    return model_admin.render(request, "admin/blog/import/undo.html", context)


@never_cache
def show_progress(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Return the progress as JSON, which the page reads every second."""
    return JsonResponse(describe_progress(jobs.find_import_job(actor=get_actor(request), job_id=object_id)))


@admin.register(ImportJob)
class ImportJobAdmin(PolicyAdmin):
    pages = [
        Page("<str:object_id>/start/", "start", partial(change_state, change=jobs.start_import), "../change/"),
        Page("<str:object_id>/cancel/", "cancel", partial(change_state, change=jobs.cancel_import), "../change/"),
        Page("<str:object_id>/undo/", "undo", undo, "../change/"),
        Page("<str:object_id>/progress/", "progress", show_progress),
    ]
    list_display = ["__str__", "show_state", "show_progress", "owner", "show_created_at"]
    list_select_related = ["owner"]
    sortable_by: list[str] = []
    ordering = ["-pk"]
    actions = None
    may_open = may_add = staticmethod(policy.may_import_posts)
    select_rows = staticmethod(lambda actor: ImportJob.objects.filter(policy.visible_imports(actor)))

    show_state = build_column("Status", lambda job: str(job.state), label=COLORS)
    show_progress = build_column("Files", lambda job: f"{job.done} of {job.total}")
    show_created_at = build_time_column("created_at", "Uploaded at")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the form of an upload; store a zip file that was sent, and show its page."""
        actor = get_actor(request)
        if not policy.may_import_posts(actor):
            raise PermissionDenied
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            archive = form.cleaned_data["archive"]
            values = {name: form.cleaned_data[name] for name in ("source", "status")}
            try:
                job = jobs.create_import_job(actor=actor, archive=archive, name=archive.name, **values)
            except Invalid as error:
                form.add_error(None, {name: list(problems) for name, problems in error.fields.items()})
            else:
                return redirect(CHANGE, job.pk)
        return self.render(request, "admin/blog/import/upload.html", {"title": "Import posts", "form": form})

    @method_decorator(never_cache)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show an import: its progress, what it would do or has done with each file, and what the person may do."""
        job = jobs.find_import_job(actor=get_actor(request), job_id=object_id)
        outcome, is_plan = request.GET.get("outcome", ""), jobs.has_only_plan(job)
        labels = {str(each): texts[0 if is_plan else 1] for each, texts in LABELS.items()}
        chosen = Q(is_plan=is_plan, outcome=outcome) if outcome in labels else Q(is_plan=is_plan)
        page = Paginator(job.results.filter(chosen).order_by("number"), FILES).get_page(request.GET.get("page"))
        counts = jobs.count_outcomes(job, is_plan=is_plan)
        known = PostSource.objects.filter(source=job.source)
        paths = [result.path for result in page]
        posts = dict(known.filter(path__in=paths).values_list("path", "post_id"))
        context = {
            "title": f"Import of {job.file_name}",
            "job": job,
            "is_plan": is_plan,
            "page": page,
            "outcome": outcome if outcome in labels else "",
            "results": [
                (result, labels[result.outcome], posts.get(result.path), describe_post(result.details))
                for result in page
            ],
            "counts": [(value, label, counts[value]) for value, label in labels.items() if value in counts],
            "known_posts": known.count(),
            "may_be_undone": jobs.may_be_undone(job),
            "progress": describe_progress(job),
        }
        return self.render(request, "admin/blog/import/job.html", context)


def describe_post(details: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a file's post for the table of an import; nothing if the file has none."""
    if details is None:
        return {}
    status = PostStatus(details["status"]).label
    publish_at = details["publishAt"] and render_time(datetime.fromisoformat(details["publishAt"]))
    return {
        **details,
        "date": render_time(datetime.fromisoformat(details["date"])),
        "status": format_html("{} for {}", status, publish_at) if publish_at else status,
    }


def describe_progress(job: ImportJob) -> dict[str, Any]:
    """Return the progress of an import, and what the person must know about it."""
    done, total = jobs.count_undone(job) if job.state == ImportState.UNDOING else (job.done, job.total)
    note = ""
    if jobs.is_waiting_for_worker(job):
        note = NO_WORKER
    elif job.is_running and not done:
        note = "All files are read first. If another import is running, it is finished before that."
    return {
        "state": job.state,
        "done": done,
        "total": total,
        "text": f"{done:,} of {total:,} {WORK.get(job.state, 'files imported')}",
        "note": note,
    }
