"""The WSGI application, for granian, gunicorn or any other server."""

import gc
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"  # before the settings: connections that stay, bounded statements

from django.core.wsgi import get_wsgi_application

django_application = get_wsgi_application()

from contentapi.conf import conf  # noqa: E402
from contentapi.conf.checks import require_valid_environment  # noqa: E402
from contentapi.server.complete_requests import CompleteRequests  # noqa: E402
from contentapi.server.fast_path import FastPath  # noqa: E402

require_valid_environment()
front_door = FastPath(django_application)
application = CompleteRequests(front_door, front_door.refuse, slots=conf.environment.contentapi_threads)

gc.collect()
gc.freeze()  # what is loaded by now stays: the collector need not look at it again, nor a forked worker copy it
gc.set_threshold(10_000, 20, 20)  # a request leaves little garbage in cycles, so look for it less often
# A thread that computes for long lets others run every millisecond, not every five. Measured with `make hostile`: with
# five, an expensive request delays each of the few times at which a cheap one needs the interpreter.
sys.setswitchinterval(0.001)
