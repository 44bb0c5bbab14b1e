"""The tests of the folder `cases` need the settings of a project with own fields and an own type."""

from django.conf import settings

collect_ignore = [] if settings.SETTINGS_MODULE == "tests.own.settings" else ["cases"]
