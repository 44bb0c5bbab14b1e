"""The declaration of an own type by its app: the model, and the rules of the team's own that replace defaults.

API = App(own_types=[OwnModel(Recipe)])
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Model, Q

from contentapi.core.identity import Actor, Scope
from contentapi.events.declarations import Owners, Type, load_apps
from contentapi.monitoring.audit import AuditEvent
from contentapi.types.declared import load_own_types, load_targets
from contentapi.types.fields import AUTHOR, OwnField, OwnType, SdlError


@dataclass(eq=False)
class OwnModel:
    """The model of an own type.

    A function of the team replaces a default. `create` and `update` have a transaction, which an exception undoes:

    * `create(*, actor, **values)` returns a new row: for each creation, also in the desk. The default is
      `services.create_row`, which it may call.
    * `update(*, actor, row_id, changes, expected_version=None)` returns the row after changes of its fields, also in
      the desk; `changes` of a publication have `published_at` alone, null to unpublish. The default is
      `services.update_row`. Deleting does not call it.
    * `may_write(actor, owner_id)` returns whether the actor may write rows of this user, None without one: before each
      write and publication, of actors who have its scope.
    * `rows(actor)` returns a condition on the rows that the actor may see, beside `read:` and the publication: when a
      statement is compiled, so it may depend on the actor's role, scopes and kind of credential only; the actor's id
      may be a parameter. Events of other rows, and of deleted ones, are hidden too.
    * `desk(admin)` returns the class of the admin, made of the default one: once, at the start.
    """

    model: type[Model]
    _: KW_ONLY
    create: Callable[..., Model] | None = None
    update: Callable[..., Model] | None = None
    may_write: Callable[[Actor, int | None], bool] | None = None
    rows: Callable[[Actor], Q] | None = None
    desk: Callable[[Any], Any] | None = None
    types: Mapping[str, Type] = field(init=False)  # of all apps, by their names in the SDL
    owners: Owners = field(init=False)

    @cached_property
    def sdl(self) -> OwnType:
        """The type in the SDL. Raises `SdlError`."""
        for found in load_own_types():
            if found.name == self.model.__name__:
                return found
        raise SdlError(f"{self.model._meta.label}: the files of schema/ have no type with @type of this name.")

    @cached_property
    def audit(self) -> Any:
        """The events of the audit log, such as `recipe.published`."""
        define: Any = AuditEvent  # without members, it makes an enum
        kind, actions = self.sdl.name.lower(), ("published", "unpublished", "deleted")
        return define("Audit", {action.upper(): f"{kind}.{action}" for action in actions})

    @cached_property
    def guarded(self) -> Sequence[OwnField]:
        """The required relations to types with a restricted audience. A row is visible only with these related rows."""
        targets = load_targets()
        required = [field for field in self.sdl.relations if field.is_required]
        return [field for field in required if targets[field.type_name]["read"] != "public"]

    @cached_property
    def read_scope(self) -> Scope:
        return Scope(f"{self.sdl.path}:read")

    @cached_property
    def write_scope(self) -> Scope:
        return Scope(f"{self.sdl.path}:write")

    @cached_property
    def has_author(self) -> bool:
        return self.sdl.find_field(AUTHOR) is not None

    def get_owner_id(self, row: Any) -> int | None:
        """Return the id of the user of a row's author, if there is one."""
        author = getattr(row, AUTHOR, None)
        return author and author.user_id


def get_own_model(model: type[Model]) -> OwnModel:
    """Return the declaration of a model. Raises `KeyError` for a model that no app declares as an own type."""
    return {own.model: own for own in list_own_models()}[model]


def list_own_models() -> list[OwnModel]:
    return [own for app in load_apps() for own in app.own_types]
