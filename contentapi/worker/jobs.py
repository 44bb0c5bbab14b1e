"""The jobs of the background process. An app declares its own in the function `list_jobs` of its module `background`.

Several workers may run a job at the same time, on several hosts. So a job locks what it changes, and checks it again
under the lock: no work is done twice.
"""

from collections.abc import Callable
from importlib import import_module
from threading import Event
from typing import NamedTuple

from django.apps import apps
from django.utils.module_loading import module_has_submodule


class Job(NamedTuple):
    """Work that is done in rounds. `interval` is the time between two rounds, in seconds, or returns it.

    `run` does the work of a round. If it can take seconds, it returns early when the event is set, in a state from
    which any worker can continue. It raises the errors that it does not expect: the next round follows.
    """

    name: str
    run: Callable[[Event], object]
    interval: float | Callable[[], float]

    @property
    def pause(self) -> float:
        """The time until the next round."""
        return self.interval() if callable(self.interval) else self.interval


def load_jobs() -> list[Job]:
    """Return the jobs of all apps. Raises `ValueError` if two have the same name."""
    modules = [
        import_module(f"{app.name}.background")
        for app in apps.get_app_configs()
        if app.module is not None and module_has_submodule(app.module, "background")
    ]
    jobs: list[Job] = [job for module in modules for job in module.list_jobs()]
    names = [job.name for job in jobs]
    if len(names) != len(set(names)):
        raise ValueError(f"Two jobs have the same name: {', '.join(sorted(names))}.")
    return jobs
