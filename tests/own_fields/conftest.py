"""The tests of the folder `cases` need the settings of a project with own fields."""

from django.conf import settings

collect_ignore = [] if settings.SETTINGS_MODULE == "tests.own_fields.settings" else ["cases"]
