"""Every environment variable of an operator: its type, its default, and what is wrong with its value.

A wrong value never stops the reading: it is recorded as a `Problem`, its default is used, and the system
checks (`contentapi.conf.checks`) report all problems at once, each naming its variable and what to do.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints
from urllib.parse import urlsplit

import msgspec
import psycopg
from msgspec import Meta
from psycopg.conninfo import conninfo_to_dict

Count = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number, 1 or more")]
Port = Annotated[int, Meta(ge=1, le=65535, description="a port number, 1 to 65535")]
Switch = Annotated[Literal["on", "off"], Meta(description="on or off")]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], Meta(description="DEBUG, INFO, WARNING or ERROR")]
MaxPage = Annotated[int, Meta(ge=100, le=2**31 - 1, description="a whole number, 100 or more, as the SDL has it")]
Words = Annotated[tuple[str, ...], Meta(description="words separated by commas")]
Proxies = Annotated[int, Meta(ge=0, le=100, description="a whole number, 0 to 100")]
RATE = r"^[1-9][0-9]{0,8}/([1-9][0-9]{0,3})?(second|minute|hour|day)s?$"
Rate = Annotated[str, Meta(pattern=RATE, description="a number for each second, minute, hour or day, like 300/minute")]

ORIGIN = r"^https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$"
Origin = Annotated[str, Meta(pattern=ORIGIN, description="an origin like https://api.example.com, without a path")]

RANDOM = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
WANTED_KEY = "Set it to an RSA key in PEM, the same for every process: openssl genrsa 2048"


MAX_CONNECTIONS = 64  # of the workers of a host, by default: PostgreSQL accepts 100 by its own default


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """The variables by their lower-case names. Sizes are in bytes, times in milliseconds."""

    database_url: str = ""
    redis_url: str = ""
    port: Port = 8000
    web_concurrency: Count = min(os.cpu_count() or 1, 16)
    secret_key: str = ""
    jwt_private_key: str = ""
    jwt_secret: str = ""
    allowed_hosts: Words = ("localhost", "127.0.0.1", "[::1]")
    cors_allowed_origins: Words = ()
    contentapi_bind: str = ""
    contentapi_document_cache: Count = 256 * 1024
    contentapi_fast_path: Switch = "on"
    contentapi_https: Switch = "off"
    contentapi_introspection: Switch = "on"
    contentapi_introspection_cache: Count = 1024 * 1024
    contentapi_log_level: Level = "INFO"
    contentapi_max_aliases: Count = 30
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
    contentapi_public_url: Origin = ""
    contentapi_rate_anonymous: Rate = "300/minute"
    contentapi_rate_authenticated: Rate = "3000/minute"
    contentapi_rate_login: Rate = "10/minute"
    contentapi_rate_login_account: Rate = "100/hour"
    contentapi_rate_login_address: Rate = "30/minute"
    contentapi_rate_tokens: Rate = "10/minute"
    contentapi_rate_writes: Rate = "600/minute"
    contentapi_server_threads: Count = 128
    contentapi_statement_cache: Count = 1024 * 1024
    contentapi_statement_timeout: Count = 5000
    contentapi_threads: Count = 16
    contentapi_trusted_proxies: Proxies = 0
    contentapi_var: str = ""


class Problem(NamedTuple):
    """A variable that cannot be used as it is: what is wrong, and what to do about it."""

    variable: str
    message: str
    hint: str


def read_environment(variables: Mapping[str, str]) -> tuple[Environment, list[Problem]]:
    """Read the environment. An empty variable counts as one that is not set."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, kind in get_type_hints(Environment, include_extras=True).items():
        text = variables.get(name.upper(), "").strip()
        if not text:
            continue
        try:
            values[name] = msgspec.convert(split_words(text) if kind is Words else text, kind, strict=False)
        except msgspec.ValidationError:
            wanted = next(meta.description for meta in kind.__metadata__)
            problems.append(
                Problem(
                    name.upper(),
                    f"{name.upper()} must be {wanted}, not {text!r}.",
                    "Set it right, or leave it out for its default.",
                )
            )
    environment = Environment(**values)
    if "contentapi_threads" not in values:
        threads = max(4, min(16, MAX_CONNECTIONS // environment.web_concurrency))
        environment = msgspec.structs.replace(environment, contentapi_threads=threads)
    problems += [
        *check_database_variables(environment),
        *check_key_variables(environment),
        *check_redis_variable(environment),
    ]
    return environment, problems


def check_database_variables(environment: Environment) -> Iterator[Problem]:
    """Check what an operator's own database asks for. The URL holds a password and is never repeated."""
    if not environment.database_url:
        return
    example = "postgresql://user:password@host:5432/name"
    if not environment.database_url.startswith(("postgresql://", "postgres://")):
        yield Problem(
            "DATABASE_URL",
            "DATABASE_URL is not the address of a PostgreSQL database.",
            f"Write it as {example}.",
        )
    elif not is_usable(parse_database_url(environment.database_url)):
        yield Problem(
            "DATABASE_URL",
            "DATABASE_URL cannot be read, or names no database.",
            f"Write it as {example}; in the password, write @ : / and % as %40 %3A %2F and %25.",
        )
    if not environment.secret_key:
        yield Problem(
            "SECRET_KEY",
            "SECRET_KEY is required when DATABASE_URL is set.",
            f"Set it to 50 random characters or more, the same for every process: {RANDOM}.",
        )


def check_key_variables(environment: Environment) -> Iterator[Problem]:
    """Check the keys of bearer tokens, which are never repeated."""
    if environment.jwt_private_key or environment.jwt_secret:
        from contentapi.auth import (
            jwt,  # cryptography takes its time, for those alone who have keys
            signing_keys,  # cryptography takes its time, for those alone who have keys
        )

        for variable, read_keys, text, hint in (
            ("JWT_PRIVATE_KEY", signing_keys.parse_private_keys, environment.jwt_private_key, f"{WANTED_KEY}."),
            (
                "JWT_SECRET",
                signing_keys.parse_hmac_secret,
                environment.jwt_secret,
                f"Set it to random characters: {RANDOM}.",
            ),
        ):
            try:
                read_keys(text)
            except jwt.KeyProblem as problem:
                yield Problem(variable, f"{variable} {problem}.", hint)
    elif environment.database_url:
        yield Problem(
            "JWT_PRIVATE_KEY",
            "JWT_PRIVATE_KEY is required when DATABASE_URL is set.",
            f"{WANTED_KEY}. Or set JWT_SECRET.",
        )


def check_redis_variable(environment: Environment) -> Iterator[Problem]:
    """Check the address of a Redis. It holds a password and is never repeated."""
    if environment.redis_url and not is_redis_url(environment.redis_url):
        yield Problem(
            "REDIS_URL",
            "REDIS_URL is not the address of a Redis.",
            "Write it as redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path/to/redis.sock; "
            "in the password, write @ : / and % as %40 %3A %2F and %25.",
        )


def is_redis_url(url: str) -> bool:
    """Say whether redis-py can read this address, and will go to the database that it names."""
    from redis.connection import parse_url  # a tenth of a second, for those alone who have one

    try:
        parts = urlsplit(url)
        parse_url(url)  # type: ignore[no-untyped-call]
    except ValueError:
        return False
    database = parts.path.strip("/")
    if parts.scheme == "unix":
        return bool(database)
    return bool(parts.hostname) and (database.isdecimal() or not database)


def parse_database_url(url: str) -> dict[str, Any]:
    """Return libpq's reading of a PostgreSQL URL, every libpq parameter included; empty when it cannot be read."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return {}


def is_usable(parameters: Mapping[str, Any]) -> bool:
    return bool(parameters.get("dbname")) and str(parameters.get("connect_timeout", "0")).isdecimal()


def split_words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())
