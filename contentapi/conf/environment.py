"""Environment variables: names, types, defaults and parsing.

An invalid value does not stop the parsing: it becomes an error of a system check, and the default is used.
`contentapi.conf.checks` reports all errors at once.
"""

import os
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
import psycopg
from django.core.checks import Error
from msgspec import Meta
from psycopg.conninfo import conninfo_to_dict

TraceProtocol = Annotated[Literal["http/protobuf"], Meta(description="http/protobuf")]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number, 1 or more")]
Days = Annotated[int, Meta(ge=1, le=36_500, description="a number of days, 1 to 36500")]
Memory = Annotated[int, Meta(ge=1, le=2**50, description="a number of bytes, 1 or more")]
Port = Annotated[int, Meta(ge=1, le=65535, description="a port number, 1 to 65535")]
Switch = Annotated[Literal["on", "off"], Meta(description="on or off")]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], Meta(description="DEBUG, INFO, WARNING or ERROR")]
LogFormat = Annotated[Literal["auto", "json", "text"], Meta(description="auto, json or text")]
Cluster = Annotated[str, Meta(pattern="^citus$", description="citus, or unset")]
Documents = Annotated[Literal["any", "trusted"], Meta(description="any or trusted")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Address = Annotated[str, Meta(pattern=r"^[^\s/]*:[1-9][0-9]{0,4}$", description="an address like 127.0.0.1:9100")]
MaxPage = Annotated[
    int, Meta(ge=100, le=2**31 - 1, description="a whole number, 100 or more (the schema promises 100)")
]
Words = Annotated[tuple[str, ...], Meta(description="words separated by commas")]
Lag = Annotated[int, Meta(ge=1000, le=3_600_000, description="a time in milliseconds, 1000 to 3600000")]
Proxies = Annotated[int, Meta(ge=0, le=100, description="a whole number, 0 to 100")]
ForwardedHeader = Annotated[Literal["Forwarded", "X-Forwarded-For"], Meta(description="Forwarded or X-Forwarded-For")]
RATE = r"^[1-9][0-9]{0,8}/([1-9][0-9]{0,3})?(second|minute|hour|day)s?$"
Rate = Annotated[str, Meta(pattern=RATE, description="a number for each second, minute, hour or day, like 300/minute")]

Networks = Annotated[str, Meta(description="networks like 10.0.0.0/8 or fd00::/8, separated by commas")]
MEDIA_PLACE = r"^(s3://[a-z0-9][a-z0-9.-]{2,62}(/[^\s?#]*)?(\?[^\s#]*)?|[^\s:?#]+)$"
MediaPlace = Annotated[
    str,
    Meta(
        pattern=MEDIA_PLACE,
        description="a folder, or a bucket like s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1",
    ),
]
MEDIA_URL = r"^https?://[^\s/?#]+(/[^\s?#]*[^\s?#/])?$"
MediaUrl = Annotated[
    str, Meta(pattern=MEDIA_URL, description="an address like https://cdn.example.com, without a slash at its end")
]
ORIGIN = r"^https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$"
Origin = Annotated[str, Meta(pattern=ORIGIN, description="an origin like https://api.example.com, without a path")]
POST_URL = r"^https?://[^\s/{}]+/[^\s{}]*\{slug\}[^\s{}]*$"
PostUrl = Annotated[
    str, Meta(pattern=POST_URL, description="an address with {slug}, like https://www.example.com/blog/{slug}")
]
PART = r"[^\s{}]*(\{(slug|id)\}[^\s{}]*)*"
PREVIEW_URL = rf"([\w-]+=)?https?://[^\s/{{}}]+/{PART}\{{token\}}{PART}"
MAX_PREVIEW_SITES = 4
PreviewUrls = Annotated[
    str,
    Meta(
        pattern=f"^{PREVIEW_URL}( {PREVIEW_URL}){{0,{MAX_PREVIEW_SITES - 1}}}$",
        description="an address with {token}, like https://www.example.com/preview?token={token}&path=/blog/{slug}, or"
        f" up to {MAX_PREVIEW_SITES} that are separated by spaces, each with a name: web=https://… app=https://…",
    ),
]

# The text search configurations that every supported PostgreSQL has.
Language = Annotated[
    Literal[
        "simple", "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french",
        "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali",
        "norwegian", "portuguese", "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish",
        "yiddish",
    ],
    Meta(description="a text search configuration of PostgreSQL, like english, german or simple"),
]  # fmt: skip

# A time-out of the server is at least this number of statement time-outs. A request may wait for a slot for two.
STATEMENTS_PER_TIMEOUT = 4
SMTP_PORTS = {"smtp": 587, "smtps": 465}
BACKENDS = "django.core.mail.backends"
FILE_SENDER = "content-api@localhost"
STREAM_PORT_OFFSET = 100  # from PORT to the port of streams, by default
LAST_PORT = 65535
MAX_CONNECTIONS = 64  # of all workers of a host, by default; PostgreSQL's default is 100


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """The variables by their lower-case names. Sizes are in bytes, times in milliseconds. See docs/settings.md."""

    database_url: str = ""
    database_replica_urls: Words = ()
    redis_url: str = ""
    email_url: str = ""
    port: Port = 8000
    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_protocol: TraceProtocol = "http/protobuf"
    otel_exporter_otlp_traces_endpoint: str = ""
    web_concurrency: Count = min(os.cpu_count() or 1, 16)
    secret_key: str = ""
    jwt_private_key: str = ""
    jwt_secret: str = ""
    allowed_hosts: Words = ("localhost", "127.0.0.1", "[::1]")
    cors_allowed_origins: Words = ()
    contentapi_bind: str = ""
    contentapi_document_cache: Count = 256 * 1024
    contentapi_distributed: Cluster = ""
    contentapi_documents: Documents = "any"
    contentapi_documents_manifest: str = ""
    contentapi_events_keep: Days = 30
    contentapi_fast_path: Switch = "on"
    contentapi_forwarded_header: ForwardedHeader = "Forwarded"
    contentapi_https: Switch = "off"
    contentapi_image_avif: Switch = "off"
    contentapi_image_max_bytes: Count = 25 * 1024 * 1024
    contentapi_image_quota: Memory = 10_000_000_000
    contentapi_introspection: Switch = "on"
    contentapi_introspection_cache: Count = 1024 * 1024
    contentapi_log_format: LogFormat = "auto"
    contentapi_log_level: Level = "INFO"
    contentapi_log_sample: Share = 1.0
    contentapi_log_sample_health: Share = 0.0
    contentapi_max_aliases: Count = 30
    contentapi_max_atomic_mutations: Count = 50
    contentapi_max_body: Count = 1024 * 1024
    contentapi_max_comparisons: Count = 10_000
    contentapi_max_cost: Count = 25_000
    contentapi_max_depth: Count = 12
    contentapi_max_directives: Count = 50
    contentapi_max_fields: Count = 5000
    contentapi_max_introspection_depth: Count = 18
    contentapi_max_mutations: Count = 10
    contentapi_max_page: MaxPage = 100
    contentapi_max_query_length: Count = 32 * 1024
    contentapi_max_response: Count = 16 * 1024 * 1024
    contentapi_max_root_fields: Count = 20
    contentapi_max_tokens: Count = 2000
    contentapi_max_values: Count = 10_000
    contentapi_media: MediaPlace = ""
    contentapi_media_url: MediaUrl = ""
    contentapi_metrics_bind: Address = ""
    contentapi_persisted_cache: Count = 1024 * 1024
    contentapi_preview_url: PreviewUrls = ""
    contentapi_public_url: Origin = ""
    contentapi_rate_anonymous: Rate = "300/minute"
    contentapi_rate_authenticated: Rate = "3000/minute"
    contentapi_rate_login: Rate = "10/minute"
    contentapi_rate_login_account: Rate = "100/hour"
    contentapi_rate_login_address: Rate = "30/minute"
    contentapi_rate_previews: Rate = "300/minute"
    contentapi_rate_tokens: Rate = "10/minute"
    contentapi_rate_writes: Rate = "600/minute"
    contentapi_replica_max_lag: Lag = 5000
    contentapi_search_language: Language = "english"
    contentapi_server_threads: Count = 128
    contentapi_shutdown_timeout: Count = 30_000
    contentapi_site_post_url: PostUrl = ""
    contentapi_statement_cache: Count = 1024 * 1024
    contentapi_statement_timeout: Count = 5000
    contentapi_stream_port: Port = 8100
    contentapi_stream_url: Origin = ""
    contentapi_threads: Count = 16
    contentapi_trusted_proxies: Proxies = 0
    contentapi_var: str = ""
    contentapi_webhook_networks: Networks = ""
    contentapi_worker_max_memory: Memory = 1024 * 1024 * 1024
    contentapi_worker_max_requests: Count = 500_000
    contentapi_worker_timeout: Count = 30_000


def build_error(variable: str, message: str, hint: str) -> Error:
    return Error(message, hint=hint, id=f"contentapi.{variable}")


def read_environment(variables: Mapping[str, str]) -> tuple[Environment, list[Error]]:
    """Parse the environment variables. An empty variable counts as unset. Return an error for each invalid one."""
    values: dict[str, Any] = {}
    errors: list[Error] = []
    for name, kind in get_type_hints(Environment, include_extras=True).items():
        text = variables.get(name.upper(), "").strip()
        if not text:
            continue
        try:
            values[name] = msgspec.convert(split_words(text) if kind is Words else text, kind, strict=False)
            if kind is Networks:
                parse_networks(text)
        except (msgspec.ValidationError, ValueError):
            values.pop(name, None)
            expected = next(meta.description for meta in kind.__metadata__)
            message = f"{name.upper()} must be {expected}, not {text!r}."
            errors.append(build_error(name.upper(), message, "Correct the value, or unset the variable."))
    environment = Environment(**values)
    stream_port = environment.port + STREAM_PORT_OFFSET
    derived: dict[str, Any] = {
        "contentapi_stream_port": stream_port if stream_port <= LAST_PORT else environment.port - STREAM_PORT_OFFSET,
        "contentapi_threads": max(4, min(16, MAX_CONNECTIONS // environment.web_concurrency)),
    }
    for name in ("contentapi_worker_timeout", "contentapi_shutdown_timeout"):
        derived[name] = max(30_000, STATEMENTS_PER_TIMEOUT * environment.contentapi_statement_timeout)
    return msgspec.structs.replace(environment, **derived | values), errors


def parse_database_url(url: str) -> dict[str, Any]:
    """Return the libpq parameters of a PostgreSQL URL. Return an empty dict if libpq cannot parse it."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return {}


def parse_email_url(url: str) -> dict[str, Any]:
    """Return Django's settings for sending mail. Return an empty dict if the URL cannot be read, or names no sender.

    `smtps` means TLS from the start, and `smtp` STARTTLS, unless `tls=off`. It is not used only where the server offers
    it: an attacker between them could remove the offer, and read the links.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or SMTP_PORTS.get(parts.scheme)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        return {}
    user, tls = unquote(parts.username or ""), query.pop("tls", "on")
    sender = query.pop("from", FILE_SENDER if parts.scheme == "file" else user)
    common = {"DEFAULT_FROM_EMAIL": sender}
    if query or tls not in ("on", "off") or "@" not in sender or not sender.isprintable():
        return {}
    if parts.scheme == "file" and not parts.netloc and parts.path.strip("/"):
        return {**common, "EMAIL_BACKEND": f"{BACKENDS}.filebased.EmailBackend", "EMAIL_FILE_PATH": unquote(parts.path)}
    if parts.scheme not in SMTP_PORTS or not parts.hostname or parts.path.strip("/"):
        return {}
    return {
        **common,
        "EMAIL_BACKEND": f"{BACKENDS}.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": user,
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp" and tls == "on",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


@cache
def parse_networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the networks of a setting. Raises `ValueError`, also for `10.0.0.1/8`, which is no network."""
    return tuple(ip_network(word) for word in split_words(text))


def split_words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())
