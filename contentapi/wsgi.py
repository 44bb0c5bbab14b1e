"""The WSGI application, for gunicorn or any other server."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"  # before the settings: pooled connections, bounded statements

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from contentapi.checks import require_sound_environment  # noqa: E402

require_sound_environment()
