"""Django's settings, from the environment variables. Without DATABASE_URL, all data of the checkout are in var/."""

import os
import secrets
import sys
from functools import partial
from pathlib import Path
from typing import Any

from contentapi.conf import content_apps, environment
from contentapi.conf.secret_files import read_or_create
from contentapi.conf.timeouts import PASSWORD_LINK_LIFETIME, SMTP_TIMEOUT, derive_timeouts
from contentapi.core.identity import Scope
from contentapi.desk.theme import build_theme

ENVIRONMENT, ENVIRONMENT_ERRORS = environment.read_environment(os.environ)
TIMEOUTS = derive_timeouts(ENVIRONMENT)

# --- Paths ---------------------------------------------------------------------------------------------
BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / (ENVIRONMENT.contentapi_var or "var")
SCHEMA_DIR = content_apps.SCHEMA_DIR

# The types that own types can refer to. `read` is the audience that may read all objects of the type.
RELATED_TYPES = {
    "Author": {"model": "blog.Author", "read": "public"},
    "Image": {"model": "blog.Image", "read": "public"},
    "Post": {"model": "blog.Post", "read": "staff"},
}

# --- Core ----------------------------------------------------------------------------------------------
EMBEDDED = not ENVIRONMENT.database_url
SERVING = os.environ.get("CONTENTAPI_PROCESS") == "server"  # set by contentapi.wsgi and contentapi.server
SECRET_KEY = ENVIRONMENT.secret_key or (
    read_or_create(VAR_DIR / "secret_key", partial(secrets.token_urlsafe, 50)) if EMBEDDED else "missing: see checks"
)
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
ROOT_URLCONF = "contentapi.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CONTENT_APPS = content_apps.find_content_apps(BASE_DIR)
INSTALLED_APPS = [
    "contentapi",
    "contentapi.events",
    *CONTENT_APPS,
    "corsheaders",
    "unfold.apps.BasicAppConfig",  # the theme of the admin; its templates replace Django's
    "unfold.contrib.filters",
    "users.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "oauth2_provider",
    "pghistory",
    "pgtrigger",
]

MIDDLEWARE = [
    "contentapi.http.middleware.request_record_middleware",
    "django.middleware.security.SecurityMiddleware",
    "contentapi.http.static_files.static_compression_middleware",
    "contentapi.http.static_files.StaticFilesMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    # Inside CORS: a script can read its 429, and a preflight request is not charged.
    "contentapi.rate_limits.middleware.RateLimitMiddleware",
    "django.middleware.common.CommonMiddleware",
    "contentapi.http.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "contentapi.http.middleware.AuthenticationMiddleware",
    "contentapi.http.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Database ------------------------------------------------------------------------------------------

DISTRIBUTED_SETTINGS = {
    "citus.enable_unsafe_triggers": "on",  # of CREATE TRIGGER, in migrations
    "plan_cache_mode": "auto",  # the values of a statement determine its shards
    "citus.propagate_set_commands": "local",  # SET LOCAL reaches the triggers of the shards
    # One connection to each node in a transaction. With several, it could not write an author after reading posts.
    "citus.multi_shard_modify_mode": "sequential",
}


def build_database_settings(url: str) -> dict[str, Any]:
    """Return the settings of a database. A server keeps its connections and limits the time of a statement."""
    options: dict[str, Any] = {
        "connect_timeout": 5,
        # Detect a host that has vanished.
        "keepalives_idle": 30,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }
    # PostgreSQL, too, detects a host that has vanished. The transactions of its connections hold locks.
    limits: dict[str, Any] = {"tcp_keepalives_idle": 5, "tcp_keepalives_interval": 2, "tcp_keepalives_count": 3}
    if SERVING:
        limits |= {
            "statement_timeout": round(1000 * TIMEOUTS.statement),
            "lock_timeout": round(1000 * TIMEOUTS.lock),
            "idle_in_transaction_session_timeout": round(1000 * TIMEOUTS.idle_in_transaction),
            "bytea_output": "hex",  # the format in which `users.authentication` reads the digest of a key
            # Statements are prepared, and their indexes serve any value: planning takes longer than execution.
            "plan_cache_mode": "force_generic_plan",
            # On an SSD the most selective index is the fastest. The default is for disks and prefers another index.
            "random_page_cost": 1.1,
        }
        options["connect_timeout"] = 2  # of each host; a request does not wait longer (`contentapi.db.watch`)
    if ENVIRONMENT.contentapi_distributed:
        limits |= DISTRIBUTED_SETTINGS
    options["options"] = " ".join(f"-c {name}={value}" for name, value in limits.items())
    common = {
        "OPTIONS": options,
        "CONN_MAX_AGE": 600 if SERVING else 0,
        "CONN_HEALTH_CHECKS": True,
        "TEST": {"NAME": "test_contentapi"},
    }
    if not url:
        return {"ENGINE": "contentapi.db.embedded", "NAME": "postgres", "USER": "postgres", **common}
    parameters = environment.parse_database_url(url)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    values = {setting: parameters.pop(name, "") for setting, name in names.items()}
    if "options" in parameters:
        options["options"] += f" {parameters.pop('options')}"
    if "," in values["HOST"]:  # several servers, one of which is the primary
        options["target_session_attrs"] = "read-write"
    return {"ENGINE": "contentapi.db.engine", **values, **common, "OPTIONS": options | parameters}


DATABASES = {"default": build_database_settings("" if EMBEDDED else ENVIRONMENT.database_url)}
for number, replica_url in enumerate([] if EMBEDDED else ENVIRONMENT.database_replica_urls, start=1):
    # Tests read from the primary in its place.
    DATABASES[f"replica{number}"] = {**build_database_settings(replica_url), "TEST": {"MIRROR": "default"}}
DATABASE_ROUTERS = ["contentapi.core.replicas.ReplicaRouter"] if len(DATABASES) > 1 else []

# --- Users and passwords -------------------------------------------------------------------------------
AUTH_USER_MODEL = "users.User"
AUTHENTICATE = "users.authentication.authenticate"  # returns the actor of credential headers
AUTHENTICATE_AGAIN = "users.authentication.authenticate_again"  # returns the present actors of several credentials
ADD_PREVIEW = "blog.services.add_preview"  # returns the actor of a preview token
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # for hashes of other systems; replaced at login
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
PASSWORD_RESET_TIMEOUT = round(PASSWORD_LINK_LIFETIME.total_seconds())
globals().update(environment.parse_email_url(ENVIRONMENT.email_url))  # EMAIL_BACKEND and what it needs
EMAIL_TIMEOUT = SMTP_TIMEOUT
LOGIN_URL = LOGIN_REDIRECT_URL = "/oauth/login"
SESSION_ENGINE = "contentapi.auth.sessions"
CSRF_FAILURE_VIEW = "contentapi.desk.pages.handle_csrf_failure"
# E003 requires a unique column; the constraint users_user_email_unique ignores case.
SILENCED_SYSTEM_CHECKS = ["auth.E003"]

# --- The desk --------------------------------------------------------------------------------------------
UNFOLD = build_theme(dashboard="blog.desk.dashboard.add_dashboard", script="blog.desk.dashboard.get_text_keeper")

# --- The OAuth 2.0 authorization server, by RFC 9700 -----------------------------------------------------
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "oauth2_provider.AccessToken"  # noqa: S105 - the default; foreign keys need it
RFC_9700_RULES = [
    "IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "PKCE_REQUIRED", "ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS",
    "TOKEN_STORAGE", "REFRESH_TOKEN", "REDIRECT_URI_SCHEME", "REDIRECT_URI_MATCHING",
]  # fmt: skip
OAUTH2_PROVIDER = {
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 3600,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ROTATE_REFRESH_TOKEN": True,
    "PKCE_REQUIRED": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],  # for `check --deploy` only: users/oauth/clients.py has the rules
    "SCOPES": dict(Scope.choices),
    "DEFAULT_SCOPES": Scope.values,
    **{f"COMPLIANT_BCP_RFC9700_{rule}": True for rule in RFC_9700_RULES},
}

# --- HTTP ----------------------------------------------------------------------------------------------
# With DATABASE_URL this is a deployment: listen on all addresses. Without it, serve the demo to this machine only.
BIND = f"{ENVIRONMENT.contentapi_bind or ('127.0.0.1' if EMBEDDED else '0.0.0.0')}:{ENVIRONMENT.port}"  # noqa: S104
HTTPS = ENVIRONMENT.contentapi_https == "on"
PUBLIC_URL = ENVIRONMENT.contentapi_public_url
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
DATA_UPLOAD_MAX_MEMORY_SIZE = ENVIRONMENT.contentapi_max_body

CORS_ALLOWED_ORIGINS = list(ENVIRONMENT.cors_allowed_origins)
CORS_ALLOW_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-disposition", "content-type", "idempotency-key", "if-match", "if-none-match",
    "last-event-id", "preview-token", "x-api-key", "x-api-version",
    # Added by browsers' tools, tracing and GraphQL clients. They have no effect here.
    "apollo-require-preflight", "apollographql-client-name", "apollographql-client-version", "baggage",
    "cache-control", "sentry-trace", "traceparent", "tracestate", "x-request-id", "x-requested-with",
]  # fmt: skip
CORS_EXPOSE_HEADERS = [
    "allow", "etag", "idempotent-replayed", "link", "location", "ratelimit", "ratelimit-policy", "retry-after",
    "www-authenticate", "x-api-version", "x-error-code", "x-request-id",
]  # fmt: skip
CORS_URLS_REGEX = r"^/(?!admin/|oauth/log|oauth/authorize)"  # not for pages

# --- Language, time, files -----------------------------------------------------------------------------
USE_I18N = False
NUMBER_GROUPING = 3  # of numbers in templates: `{{ count|floatformat:"0g" }}`
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True  # serve the files of the admin from the packages, without collectstatic
WHITENOISE_ROOT = BASE_DIR / "contentapi" / "static_root"  # files at fixed paths: /favicon.ico
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/frontend/"  # their URL changes with their content

# --- Logs, on stderr: JSON for programs, lines for people -------------------------------------------------
LOG_FORMAT = ENVIRONMENT.contentapi_log_format
if LOG_FORMAT == "auto":
    LOG_FORMAT = "text" if EMBEDDED or sys.stderr.isatty() else "json"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "contentapi.monitoring.logs.RequestIdFilter"}},
    "formatters": {
        "json": {"()": "contentapi.monitoring.logs.JsonFormatter"},
        "text": {"()": "contentapi.monitoring.logs.LineFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "contentapi.monitoring.logs.LineHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request_id"],
        }
    },
    "root": {"handlers": ["stderr"], "level": ENVIRONMENT.contentapi_log_level},
    "loggers": {
        "contentapi.audit": {"level": "INFO"},  # whatever CONTENTAPI_LOG_LEVEL is
        "django.request": {"level": "CRITICAL"},  # `contentapi.http.request_log` has a line for each request
        "django.security": {"level": "CRITICAL"},  # the same
        "oauthlib": {"level": "WARNING"},  # at DEBUG it logs tokens
        "oauth2_provider": {"level": "WARNING"},
    },
}
