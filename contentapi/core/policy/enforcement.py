"""Errors for callers without a credential or a permission."""

from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import Actor


def require_credential(actor: Actor, action: str) -> None:
    """Raise `Unauthenticated` for an anonymous actor. Call this before you look for the object of the action."""
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {action}.")


def require_no_preview(actor: Actor) -> None:
    """Raise `Forbidden` if the caller has sent a preview token, whatever credential is beside it."""
    if actor.preview is not None:
        raise Forbidden("A preview token only reads: send writes without Preview-Token.")


def require_permission(actor: Actor, allowed: bool, action: str) -> None:  # noqa: FBT001 - the call reads as a sentence
    """Raise an error unless `allowed`: `Unauthenticated` for an anonymous actor, `Forbidden` for others.

    `action` is part of the message, for example "publish posts".
    """
    if allowed:
        return
    require_credential(actor, action)
    raise Forbidden(f"You may not {action}.")
