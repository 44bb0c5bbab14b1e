"""The rules for webhooks: with `webhooks:manage`, admins see and change all of them, and nobody else any."""

from django.db.models import Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy.reach import EVERYTHING, NEVER, get_reach


def may_manage_webhooks(actor: Actor) -> bool:
    return get_reach(actor, Scope.WEBHOOKS_MANAGE).of_everybody


def visible_webhooks(actor: Actor) -> Q:
    """All webhooks, or all deliveries, for those who manage them."""
    return EVERYTHING if may_manage_webhooks(actor) else NEVER


def may_name_maker(actor: Actor) -> bool:
    """Whether the actor may create webhooks with the rights of another user: the operator may."""
    return actor.credential == "operator"
