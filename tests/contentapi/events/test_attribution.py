import json

from pytest_django import Settings

from contentapi.core.identity import Role
from contentapi.db.statements import fetch_column
from contentapi.events.triggers import CONTEXT, attribute_changes
from tests.environment import set_environment
from tests.factories import make_actor


def test_triggers_on_shards_see_who_changes_rows_in_the_block_only(settings: Settings) -> None:
    actor = make_actor(Role.EDITOR).through("REST")
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")

    with attribute_changes(actor):
        stated = json.loads(read_context())

    assert stated == {"changed_by": actor.user_id, "changed_with": actor.origin}
    assert not read_context()


def read_context() -> str:
    [context] = fetch_column("SELECT current_setting(%s, true)", [CONTEXT])
    return str(context or "")
