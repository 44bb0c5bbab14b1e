"""Times that a person types in their own time zone.

The browser sends the name of its zone beside the time (blog/static/blog/local_time.js). Without a name the time is in
UTC, and the page says so. A time that the clocks of the zone skip is refused. A time that they show twice is a question
to the person: the server never guesses.
"""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

MAX_ZONE = 64


def find_moments(text: str, zone_name: str) -> list[datetime]:
    """Return the moments at which the clocks of a zone show the time of an `<input type="datetime-local">`.

    None in the hour that the clocks skip in spring, two in the hour that they show twice in autumn. Raises
    `ValidationError`.
    """
    zone = find_zone(zone_name)
    try:
        local = datetime.fromisoformat(text)
        moments = {local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
        shown = {moment: moment.astimezone(zone).replace(tzinfo=None, fold=0) for moment in moments}
    except ValueError:
        raise ValidationError("Enter a date and a time, such as 2027-05-03T09:00.") from None
    except OverflowError:
        raise ValidationError("This year is out of range.") from None
    if local.tzinfo is not None:
        raise ValidationError("Enter the time without an offset.")
    return sorted(moment for moment in moments if shown[moment] == local)


def find_zone(name: str) -> ZoneInfo:
    """Return the zone with an IANA name, UTC for no name. Raises `ValidationError`."""
    try:
        return ZoneInfo(name[:MAX_ZONE] or "UTC")
    except (KeyError, ValueError, OSError):  # an unknown name, a path, a folder of the database of zones
        raise ValidationError(f"There is no time zone “{name[:MAX_ZONE]}”.") from None


def resolve_time(text: str, zone_name: str, moment_text: str) -> datetime:
    """Return the moment of a time that a person typed. Raises `ValidationError`.

    The third value is the moment that the page had for this time: a stored one with its fraction of a second, or the
    choice of the person. It counts only if the clocks of the zone show the typed time at that moment.
    """
    moments = find_moments(text, zone_name)
    kept = parse_moment(moment_text)
    if kept is not None:
        second = kept.replace(microsecond=0)
        if second in moments or second.replace(second=0) in moments:
            return kept.astimezone(UTC)
    if len(moments) == 1:
        return moments[0]
    clocks, time = f"The clocks of {zone_name or 'UTC'}", f"{datetime.fromisoformat(text):%H:%M}"
    if moments:
        raise ValidationError(f"{clocks} show this time twice: {time} on that day is two moments. Choose one.")
    raise ValidationError(f"{clocks} skip this time: {time} does not exist on that day. Choose another time.")


def parse_moment(text: str) -> datetime | None:
    """Return the moment that the page has for a time; None for text that is no moment."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


class LocalTimeWidget(forms.MultiWidget):
    """A time, the zone of the browser, and the moment that the page has for it."""

    template_name = "blog/local_time.html"

    class Media:
        js = ["blog/local_time.js"]

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        hidden = forms.HiddenInput(attrs={"autocomplete": "off"})
        local = UnfoldAdminTextInputWidget(attrs={"type": "datetime-local", "step": 1})
        super().__init__({"local": local, "zone": hidden, "moment": hidden}, attrs)

    def id_for_label(self, id_: str) -> str:
        """Return the id of the first part, which the label is for."""
        return f"{id_}_0" if id_ else ""

    def decompress(self, value: datetime | None) -> list[str]:
        if value is None:
            return ["", "", ""]
        moment = value.astimezone(UTC)
        return [moment.replace(tzinfo=None).isoformat(timespec="seconds"), "", moment.isoformat()]

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """Add the moments between which the person must choose, if the clocks show the time twice."""
        context: dict[str, Any] = super().get_context(name, value, attrs)
        values = value if isinstance(value, list) else self.decompress(value)
        text, zone_name, chosen = (each or "" for each in values)
        context["zone"] = zone_name or "UTC"
        try:
            moments = find_moments(text, zone_name)
        except ValidationError:
            return context
        if len(moments) > 1:
            zone = find_zone(zone_name)
            kept = parse_moment(chosen)
            context["choices"] = [(each.isoformat(), each.astimezone(zone), each == kept) for each in moments]
        return context


class LocalTimeField(forms.MultiValueField):
    """A moment, typed as a time in the zone of the browser."""

    widget = LocalTimeWidget

    def __init__(self, **options: Any) -> None:
        parts = [forms.CharField(required=False) for _ in range(3)]
        super().__init__(parts, **{"require_all_fields": False, "required": False, **options})

    def compress(self, values: list[str]) -> datetime | None:
        text, zone_name, moment_text = values or ("", "", "")
        if text:
            return resolve_time(text, zone_name, moment_text)
        if self.required:  # the zone alone is no value
            raise ValidationError("Enter a date and a time.")
        return None

    def has_changed(self, initial: datetime | None, data: Any) -> bool:
        """Whether the moment has changed: the browser shows the same moment in its own zone."""
        try:
            return bool(self.clean(data) != initial)
        except ValidationError:
            return True
