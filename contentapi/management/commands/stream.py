"""Serve streams until SIGTERM or Ctrl-C. `make run` starts one; a deployment has one such process on a host or more."""

import os
import sys
from typing import Any

from contentapi.core.commands import OperatorCommand


class Command(OperatorCommand):
    help = (
        "Send events while they happen, at CONTENTAPI_STREAM_PORT, until SIGTERM or Ctrl-C: Server-Sent Events at "
        "/events/stream, and GraphQL subscriptions at /graphql. A proxy sends these requests here and all others to "
        "the server."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        os.execv(sys.executable, [sys.executable, "-m", "contentapi.streams"])
