"""The WSGI application, for gunicorn or any other server."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"  # before the settings: connections that stay, bounded statements

from django.core.wsgi import get_wsgi_application

django_application = get_wsgi_application()

from contentapi.checks import require_sound_environment  # noqa: E402
from contentapi.front_door import FrontDoor  # noqa: E402

require_sound_environment()
application = FrontDoor(django_application)

gc.collect()
gc.freeze()  # what is loaded by now stays: the collector need not look at it again, nor a forked worker copy it
gc.set_threshold(10_000, 20, 20)  # a request leaves little garbage in cycles, so look for it less often
