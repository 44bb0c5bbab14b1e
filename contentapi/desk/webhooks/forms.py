"""The forms of webhooks. The services validate what people enter."""

from typing import Any

from django import forms
from unfold import widgets

from contentapi.desk.forms import ServiceForm, Textarea
from contentapi.desk.rendering import list_scopes
from contentapi.events.sources import get_event_types
from contentapi.events.webhooks.models import LONGEST_COALESCE, MAX_URL, Webhook
from contentapi.events.webhooks.services import EDITABLE

# The hours of a replay; 0 begins with the oldest event
SINCE = {
    1: "the last hour",
    6: "the last 6 hours",
    24: "the last 24 hours",
    168: "the last 7 days",
    0: "all days that are kept",
}


def list_types() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the types of events for a choice, in a group for each kind of objects."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in get_event_types().meanings:
        kind, _, action = name.partition(".")
        label = f"{name}: all of these" if action == "*" else name
        groups.setdefault(f"{kind.capitalize()}s", []).append((name, label))
    return list(groups.items())


class WebhookForm(ServiceForm):
    """A webhook of the user who is logged in."""

    url = forms.CharField(
        label="Address",
        max_length=MAX_URL,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "url", "placeholder": "https://…"}),
        help_text="Where the events are sent. It begins with https://, and is reachable from the internet.",
    )
    types = forms.MultipleChoiceField(
        label="Events",
        choices=list_types,
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What is sent, as far as you may see it.",
    )
    selection = forms.CharField(
        required=False,
        widget=Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="What an event has of its object, as GraphQL fragments such as “fragment Data on Post { slug "
        "title }”. If this is empty: all that REST shows.",
    )
    coalesce = forms.IntegerField(
        label="Seconds to collect events",
        initial=0,
        min_value=0,
        max_value=LONGEST_COALESCE,
        widget=widgets.UnfoldAdminIntegerFieldWidget,
        help_text="0 sends each event. With 30, one request has all events of the last 30 seconds: for programs that "
        "build a whole site.",
    )
    scopes = forms.MultipleChoiceField(
        required=False,
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What may be sent beside public data, as far as your role allows it. Drafts need posts:read and "
        "events:read. Without a choice: what everybody sees.",
    )

    class Meta:
        model = Webhook
        fields = ["name"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["scopes"].choices = list_scopes(self.actor)  # type: ignore[attr-defined]
        if self.instance.pk:
            self.initial.update({name: getattr(self.instance, name) for name in EDITABLE})


class RotateForm(forms.Form):
    """The confirmation of a new secret. A form makes one secret only: it brings the version of the webhook."""

    opened = forms.CharField(widget=forms.HiddenInput)


class ReplayForm(forms.Form):
    """Which events are sent again."""

    hours = forms.TypedChoiceField(
        label="Events of", choices=list(SINCE.items()), coerce=int, initial=1, widget=widgets.UnfoldAdminSelectWidget
    )
    only_failed = forms.BooleanField(
        label="Only those that could not be delivered", required=False, initial=True, widget=widgets.UnfoldBooleanWidget
    )
