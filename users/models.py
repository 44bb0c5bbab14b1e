from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Lower
from django.utils import timezone

from contentapi.conf.timeouts import CLOCK_LEEWAY
from contentapi.core.identity import OPERATOR, Role
from contentapi.core.policy import ADMINS
from contentapi.db.ids import SharedIdField
from contentapi.events.triggers import (
    ACTOR_OF_CONTEXT,
    Announcement,
    build_change_condition,
    build_changes,
)
from users import policy
from users.audit import Audit

MAX_NAME = 150
MAX_EMAIL = 254
SHOWN = ("name", "email", "role", "is_active")  # of which a change is an event
EVENT = {"kind": "user", "subject_id": "NEW.id", "actor_id": ACTOR_OF_CONTEXT, "owner_ids": "ARRAY[NEW.id]"}


class UserManager(BaseUserManager["User"]):
    def with_email(self, email: str) -> models.QuerySet[User]:
        """Return the users with this email, regardless of case: none, or one."""
        return self.alias(lower_email=Lower("email")).filter(lower_email=Lower(Value(email)))

    def get_by_natural_key(self, username: str | None) -> User:
        return self.with_email(username or "").get()

    def create_superuser(self, email: str, name: str, password: str | None = None, **_: Any) -> User:
        """Create an admin; Django's `createsuperuser` calls this."""
        user = User(email=email, name=name, role=Role.ADMIN)
        user.set_password(password)
        user.full_clean()
        user.save()
        Audit.USER_CREATED.record(OPERATOR, "user", user.pk, role=str(user.role))
        return user


class User(AbstractBaseUser):
    """An account. The role alone decides what a user may do: there are no groups and no other flags."""

    shard_key = ""  # each node has a copy
    id = SharedIdField("ID", primary_key=True)
    name = models.CharField(max_length=MAX_NAME)
    email = models.EmailField(
        max_length=MAX_EMAIL, help_text="The name to log in with. Upper and lower case do not matter."
    )
    role = models.CharField(
        max_length=10,
        choices=[(role.value, role.value) for role in Role],
        default=Role.READER.value,
        help_text="Readers comment and order; authors write posts of their own; editors manage all posts; "
        "admins also manage users and orders. Authors, editors and admins may use this site.",
    )
    is_active = models.BooleanField(default=True, help_text="Clear this to lock the account and all its credentials.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    locked_at = models.DateTimeField(null=True, editable=False, help_text="The last lock, at which sessions ended.")

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"), name="users_user_email_unique", violation_error_message="This email is taken."
            ),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="users_user_role_known"),
            models.CheckConstraint(condition=~Q(name=""), name="users_user_name_present"),
        ]
        indexes = [
            models.Index(fields=["name", "id"], name="users_user_name"),
            # Without the id: in a small table, PostgreSQL 18 would read this whole index to find one user by id.
            models.Index(fields=["created_at"], name="users_user_created"),
        ]
        triggers = [
            Announcement("created", **EVENT, type="'user.created'"),
            Announcement(
                "updated",
                **EVENT,
                condition=build_change_condition(SHOWN),
                type="'user.updated'",
                changes=build_changes(SHOWN),
            ),
            Announcement(
                "deleted",
                **EVENT | {"subject_id": "OLD.id", "owner_ids": "ARRAY[OLD.id]"},
                type="'user.deleted'",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"

    def get_short_name(self) -> str:
        return self.name

    def get_full_name(self) -> str:
        """Return the name that the sidebar of the admin shows."""
        return self.name

    def get_session_auth_hash(self) -> str:
        """Return what a session must state: it is another one after a new password, and after a lock."""
        return f"{super().get_session_auth_hash()}{self.locked_at or ''}"

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        for each in super().get_session_auth_fallback_hash():
            yield f"{each}{self.locked_at or ''}"

    @property
    def is_staff(self) -> bool:
        """Whether the user may enter the admin site."""
        return self.is_active and policy.may_use_admin_site(self.role)

    @property
    def is_superuser(self) -> bool:
        return self.is_active and self.role in ADMINS

    def has_perm(self, perm: str, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        """Whether the admin site permits an action such as `blog.change_post`."""
        return self.has_module_perms(perm.partition(".")[0])

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and policy.may_use_admin_app(self.role, app_label)


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable(self, now: datetime) -> ApiKeyQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=now, user__is_active=True)


class ApiKey(models.Model):
    """A credential of a user. The table has only the SHA-256 of the key, which was shown once, when it was created."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100, help_text="What the key is for.")
    prefix = models.CharField(max_length=32, help_text="The beginning of the key, which names it and is no secret.")
    digest = models.BinaryField(max_length=32)
    scopes = ArrayField(models.CharField(max_length=32))  # of `Scope`, to which the own types of a project add some
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")

    objects: ClassVar[models.Manager[ApiKey]] = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = "API key"
        constraints = [
            models.UniqueConstraint(fields=["prefix"], name="users_apikey_prefix_unique"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("created_at")), name="users_apikey_expires_after_creation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"

    def get_state(self, now: datetime) -> str:
        """Return `valid`, `revoked` or `expired`."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if self.expires_at > now else "expired"


class IssuedTokenQuerySet(models.QuerySet["IssuedToken"]):
    def revoked(self, now: datetime) -> IssuedTokenQuerySet:
        """Return the revoked tokens that have not expired.

        Their user is deleted, locked or has another role, or their OAuth access token is deleted.
        """
        gone = Q(user=None) | Q(user__is_active=False) | ~Q(user__role=models.F("role"))
        still = now - timedelta(seconds=CLOCK_LEEWAY + 1)  # a token is accepted for so long after its expiry
        return self.filter(gone | Q(is_oauth=True, access_token=None), expires_at__gt=still)

    def prunable(self, now: datetime) -> IssuedTokenQuerySet:
        """Return the tokens that can be deleted: expired a day ago, and no refresh token of their family is in use."""
        in_use = apps.get_model("oauth2_provider", "RefreshToken").objects.filter(revoked=None).values("token_family")
        return self.filter(expires_at__lt=now - timedelta(days=1)).exclude(~Q(code="") & Q(family__in=in_use))


class IssuedToken(models.Model):
    """The id (`jti`) of a JWT that this service issued, with the user, role and OAuth access token at that time.

    The row remains when the user or the access token is deleted (django-oauth-toolkit revokes an access token by
    deleting it). `code` is the digest of the authorization code that the token was exchanged for. `family` is the token
    family that began with this code.
    """

    jti = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    role = models.CharField(max_length=10)
    is_oauth = models.BooleanField(default=False)
    access_token = models.OneToOneField(
        "oauth2_provider.AccessToken", on_delete=models.SET_NULL, null=True, related_name="issued"
    )
    family = models.UUIDField(null=True)
    code = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField()

    objects: ClassVar[models.Manager[IssuedToken]] = IssuedTokenQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("expires_at", name="users_issuedtoken_expires"),
            models.Index("code", name="users_issuedtoken_code", condition=~Q(code="")),
        ]

    def __str__(self) -> str:
        return self.jti
