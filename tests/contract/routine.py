"""The actions that most types have, as requests of each interface with the names that all types follow."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from tests.contract import openapi_requests
from tests.contract.admin_browser import confirm_deletion, open_list, open_page, send_form
from tests.contract.input_documents import input_document, object_document
from tests.contract.openapi_requests import MakeRequest, Request, plain_request
from tests.contract.permissions import Outcome
from tests.contract.worlds import World

ALL = ("read", "list", "create", "change", "delete")


@dataclass(frozen=True)
class Routine:
    """A type, such as `order`, with the values of a new object and those that a change sends."""

    name: str
    plural: str
    new: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    actions: Collection[str] = ALL

    def choose(self, made: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is made for the actions of the type, by their names in the permission table."""
        article = "an" if self.name[0] in "aeio" else "a"
        nouns = dict.fromkeys(ALL, f"{article} {self.name}") | {"list": self.plural}
        return {f"{verb} {nouns[verb]}": made[verb] for verb in self.actions}

    def ask_graphql(self) -> dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]]:
        title, selection = self.name.capitalize(), f"{self.name} {{ id }}"
        listed = f"{{ {self.plural}(first: 100) {{ edges {{ node {{ id }} }} }} }}"
        return self.choose(
            {
                "read": lambda world: object_document(self.name, world.find_id(self.name)),
                "list": lambda world: (listed, {}, str(world.find_id(self.name))),
                "create": lambda _: input_document(f"create{title}", selection, **self.new),
                "change": lambda world: input_document(
                    f"update{title}", selection, id=str(world.find_id(self.name)), **self.changes
                ),
                "delete": lambda world: input_document(
                    f"delete{title}", f"deleted{title}Id", id=str(world.find_id(self.name))
                ),
            }
        )

    def ask_rest(self) -> dict[str, Callable[[World], tuple[str, str, Any, Any]]]:
        path = f"/{self.plural}"
        return self.choose(
            {
                "read": lambda world: ("GET", f"{path}/{world.find_id(self.name)}", None, None),
                "list": lambda world: ("GET", path, None, str(world.find_id(self.name))),
                "create": lambda _: ("POST", path, self.new, None),
                "change": lambda world: ("PATCH", f"{path}/{world.find_id(self.name)}", self.changes, None),
                "delete": lambda world: ("DELETE", f"{path}/{world.find_id(self.name)}", None, None),
            }
        )

    def browse(self, app: str) -> dict[str, Callable[[World], Outcome]]:
        page = f"{app}_{self.name}"
        return self.choose(
            {
                "read": lambda world: open_page(world, page, world.find_id(self.name)),
                "list": lambda world: open_list(world, page, world.find_id(self.name)),
                "create": lambda world: send_form(world, reverse(f"admin:{page}_add"), **self.new),
                "change": lambda world: send_form(
                    world, reverse(f"admin:{page}_change", args=[world.find_id(self.name)]), **self.changes
                ),
                "delete": lambda world: confirm_deletion(world, page, world.find_id(self.name)),
            }
        )

    def succeed(self) -> dict[str, list[tuple[int, MakeRequest]]]:
        """Return the requests of the operations in openapi.yaml."""
        title, many = self.name.capitalize(), self.plural.capitalize()
        made = {
            "read": (f"get{title}", [(200, self.request())]),
            "list": (f"list{many}", [(200, plain_request()), (200, plain_request(query="?offset=0"))]),
            "create": (f"create{title}", [(201, plain_request(body=self.new))]),
            "change": (f"update{title}", [(200, self.request(body=self.changes))]),
            "delete": (f"delete{title}", [(204, self.request())]),
        }
        return dict(made[verb] for verb in self.actions)

    def request(self, **values: Any) -> MakeRequest:
        def make(world: openapi_requests.World) -> Request:
            return Request({f"{self.name}_id": world.find(self.name).pk}, **values)

        return make
