"""What the permission rules share: whose objects an action may touch, refusals, and the rules of the kernel.

The rules of an app are in its module `policy`. `visible_*` returns the condition on the rows that an actor may see,
`may_*` a boolean. The source is the permission table in docs/authentication.md. Both forms of a rule are computed from
one `Reach`. The owner of an object is a user id, never an author profile: a credential has only a user id. Rules use
the models' field names and ids, and one subquery for the author profile of a user.
"""

from contentapi.core.policy.enforcement import require_credential, require_no_preview, require_permission
from contentapi.core.policy.events import EventRule, build_events_in_reach, build_visible_events, visible_event_actors
from contentapi.core.policy.reach import (
    ADMINS,
    EVERYTHING,
    NEVER,
    NOBODY,
    NOTHING,
    STAFF,
    Reach,
    get_reach,
    may_grant_scope,
)
from contentapi.core.policy.webhooks import may_manage_webhooks, may_name_maker, visible_webhooks
