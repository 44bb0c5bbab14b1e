"""What the first process of a server does before it forks or serves, whatever its HTTP server is."""

from django.conf import settings

from contentapi.conf import conf
from contentapi.monitoring.repeated import share_outage_log
from contentapi.monitoring.start import start_exporter


def start_master() -> None:
    """Hold the embedded PostgreSQL for as long as this process lives, export metrics, and log a database that is away.

    Raises `SystemExit` as `require_agreement` does, and if the address of the metrics is not free.
    """
    if settings.EMBEDDED:
        from contentapi.db.embedded.base import SERVER

        SERVER.acquire()
    share_outage_log()
    start_exporter(conf.environment.contentapi_metrics_bind)
    from contentapi.health.checks import report_database_state  # imports models, so Django must be set up

    report_database_state()
