"""The events of the audit log on accounts, credentials and clients."""

from contentapi.monitoring.audit import AuditEvent


class Audit(AuditEvent):
    LOGIN_SUCCEEDED = "login.succeeded"
    LOGIN_FAILED = "login.failed"
    LOGOUT = "logout"
    USER_CREATED = "user.created"
    USER_CHANGED = "user.changed"
    USER_ROLE_CHANGED = "user.role_changed"
    USER_LOCKED = "user.locked"
    USER_UNLOCKED = "user.unlocked"
    USER_PASSWORD_CHANGED = "user.password_changed"  # noqa: S105 - a name
    USER_LINK_REQUESTED = "user.link_requested"
    USER_INVITED = "user.invited"
    USER_DELETED = "user.deleted"
    API_KEY_CREATED = "api_key.created"
    API_KEY_REVOKED = "api_key.revoked"
    TOKEN_ISSUED = "token.issued"  # noqa: S105
    OAUTH_CLIENT_CREATED = "oauth_client.created"
    OAUTH_CLIENT_CHANGED = "oauth_client.changed"
    OAUTH_CLIENT_SECRET_RENEWED = "oauth_client.secret_renewed"  # noqa: S105
    OAUTH_CLIENT_REVOKED = "oauth_client.revoked"
    OAUTH_CONSENT_GRANTED = "oauth.consent_granted"
    OAUTH_CONSENT_REVOKED = "oauth.consent_revoked"
    OAUTH_TOKEN_REUSED = "oauth.token_reused"  # noqa: S105
