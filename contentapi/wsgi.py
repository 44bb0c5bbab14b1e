"""The WSGI application, for granian, gunicorn or any other server."""

import gc
import os
import sys

gc.disable()  # what is imported is kept: to look for garbage in it takes up to a quarter of the time of a start
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
# Set before the settings are loaded. They depend on it: persistent connections, statement time-outs.
os.environ["CONTENTAPI_PROCESS"] = "server"

from django.core.wsgi import get_wsgi_application  # noqa: E402

django_application = get_wsgi_application()

from contentapi.conf import conf  # noqa: E402
from contentapi.conf.checks import require_valid_start  # noqa: E402
from contentapi.events.declarations import load_apps  # noqa: E402
from contentapi.monitoring.figures import FIGURES  # noqa: E402
from contentapi.server.complete_requests import RequestBufferingLayer  # noqa: E402
from contentapi.server.fast_path import FastPath  # noqa: E402

require_valid_start()
fast_path = FastPath(django_application, is_enabled=conf.environment.contentapi_fast_path == "on")
application = RequestBufferingLayer(
    fast_path,
    fast_path.refuse,
    slots=conf.environment.contentapi_threads,
    uploads=[upload for app in load_apps() for upload in app.build_uploads()],
)

FIGURES.gauge_sources.append(application.slots.measure)

# Exclude what is loaded now: the collector need not visit it, and forked workers need not copy it. To collect before
# would take a tenth of the time of a start, for a megabyte.
gc.freeze()
# A request leaves few reference cycles, so collect less often. All threads wait for a collection. The second number
# limits it to what 50,000 allocations have left: with 20, some took 0.3 s during `make hostile`.
gc.set_threshold(10_000, 5, 80)
gc.enable()
# A thread that computes for long yields every millisecond, not every five. Measured with `make hostile`: with five, an
# expensive request delays a cheap one each time that the cheap one needs the interpreter.
sys.setswitchinterval(0.001)
