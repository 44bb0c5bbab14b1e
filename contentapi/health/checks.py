"""The checks of readiness: what a server needs to serve, and what a deployment should have. `doctor` makes them too.

The start of a server and of a worker looks at the database: it fails only if CONTENTAPI_DISTRIBUTED is wrong.

A check returns its result and raises nothing that it expects. Reasons are for operators and never contain a URL, a
password or the name of a host: anybody may read them.
"""

from contextlib import closing
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from time import monotonic

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.jwk import KeyProblem
from contentapi.auth.signing_keys import get_key_ring
from contentapi.conf import conf
from contentapi.conf.timeouts import REDIS_CHECK_LIMIT, START_CHECK_LIMIT
from contentapi.core.redis import connect_redis
from contentapi.db.distribution import CLAIMS, REMEDIES, find_mismatch
from contentapi.db.watch.link import DeadlineConnection, QueryFailed
from contentapi.db.watch.servers import SERVERS
from contentapi.health.heartbeat import NO_WORKER, check_worker
from contentapi.health.results import LOG, OK, CheckResult, Results, failed
from contentapi.media.access import store_probe

NOT_STORED = CheckResult("warning", "Files of images cannot be stored: uploads fail.")
CONNECT = "Start PostgreSQL, or correct DATABASE_URL. Check firewalls between this host and PostgreSQL."
MigrationName = tuple[str, str]  # the app and the name


@cache
def build_state_query() -> str:
    """Return the query: is the session read-only, has it the settings of a distributed one, and which tables exist?"""
    wanted = settings.DISTRIBUTED_SETTINGS.items()
    has_settings = " AND ".join(f"current_setting('{name}', true) = '{value}'" for name, value in wanted)
    return f"""
        SELECT current_setting('transaction_read_only') = 'on', coalesce({has_settings}, false),
          to_regclass('django_migrations') IS NOT NULL, to_regclass('contentapi_jobheartbeat') IS NOT NULL,
          to_regclass('{CLAIMS}') IS NOT NULL
    """


def check_database(connection: DeadlineConnection, seconds: float) -> Results:
    """Check that the database is reachable and accepts writes, the migrations, and the worker, in some seconds."""
    deadline = monotonic() + seconds
    results: Results = {}
    try:
        (state,) = connection.query(build_state_query(), deadline)
        is_read_only, has_settings, has_migrations, has_heartbeats, has_claims = state
        fault = "PostgreSQL accepts no writes." if is_read_only else ""
        fault = fault or find_mismatch(has_migrations=has_migrations, has_claims=has_claims, has_settings=has_settings)
        results["database"] = failed(fault, REMEDIES.get(fault, CONNECT)) if fault else OK
        read = "SELECT app, name FROM django_migrations"
        applied = {(app, name) for app, name in connection.query(read, deadline)} if has_migrations else set()
        results["migrations"] = check_migrations(applied)
        results["worker"] = check_worker(connection, deadline) if has_heartbeats else NO_WORKER
    except QueryFailed as error:
        results["database"] = failed(str(error), CONNECT)
    not_checked = CheckResult("unknown", "Not checked: the database is not available.")
    return {name: results.get(name, not_checked) for name in ("database", "migrations", "worker")}


def check_migrations(applied: set[MigrationName]) -> CheckResult:
    missing = find_unapplied_migrations(applied)
    if not missing:
        return OK
    labels = ", ".join(sorted({label for label, _ in missing}))
    reason = f"{len(missing)} migrations are not applied ({labels}). Run python manage.py migrate."
    return failed(reason, "python manage.py migrate")


def find_unapplied_migrations(applied: set[MigrationName]) -> list[MigrationName]:
    """Return the migrations of this version that are not applied, and import them. Others need not be imported.

    A squashed one is applied if all that it replaces are. Those of a newer version are no problem.
    """
    missing = sorted(list_migrations() - applied)
    return [name for name in missing if not (replaced := read_replaced(name)) or replaced - applied]


@cache
def list_migrations() -> frozenset[MigrationName]:
    """Return the migrations of this version."""
    folders = [(app.label, f"{app.path}/migrations") for app in apps.get_app_configs()]
    return frozenset((label, module.name) for label, folder in folders for module in iter_modules([folder]))


def read_replaced(name: MigrationName) -> set[MigrationName]:
    app = apps.get_app_config(name[0]).name
    return set(map(tuple, import_module(f"{app}.migrations.{name[1]}").Migration.replaces))


def check_keys() -> CheckResult:
    """Check that the signing key can sign, and that its signature is valid."""
    remedy, message = "Set JWT_PRIVATE_KEY to an RSA key in PEM: openssl genrsa 2048", b"contentapi.health"
    if conf.keys_folder is not None:
        remedy = f"Check that the files in {conf.keys_folder} are keys in PEM and belong to the user of the server."
    try:
        key = get_key_ring().get_signing_key()
        is_usable = key.signer is not None and bool(key.verifier.verify(message, key.signer.sign(message)))
    except (ImproperlyConfigured, KeyProblem, OSError, SystemExit):
        return failed("The signing keys cannot be read.", remedy)
    return OK if is_usable else failed("The signing key cannot sign.", remedy)


def check_replicas() -> CheckResult:
    """Check that replicas are used. One that lags or fails is left out of reads by itself, so it is a warning."""
    faults = SERVERS.find_faults()
    reasons = "; ".join(f"{alias}: {fault}" for alias, fault in faults.items() if fault)
    remedy = "Start the replica, or correct DATABASE_REPLICA_URLS."
    if not reasons:
        return OK
    if all(faults.values()):
        return failed(f"No replica is in use, and all reads go to the primary. {reasons}", remedy)
    return CheckResult("warning", f"Replicas are left out of reads. {reasons}", remedy)


def check_redis() -> CheckResult:
    """Check that Redis responds and stores a value. While it does not, each process counts rate limits alone."""
    from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError
    from redis.exceptions import TimeoutError as RedisTimeout

    remedy = "Start Redis, or correct REDIS_URL."
    client = connect_redis(conf.environment.redis_url, timeout=REDIS_CHECK_LIMIT)
    try:
        client.set("contentapi:readiness", 1, px=1000)
    except (AuthenticationError, NoPermissionError):
        return failed("Redis refuses the user or the password of REDIS_URL.", remedy)
    except ResponseError:  # a replica, a full memory, or a disk that cannot be written
        return failed("Redis accepts no writes.", remedy)
    except RedisTimeout:
        return failed("Redis does not respond in time.", remedy)
    except (RedisError, OSError):
        return failed("Redis is not reachable.", remedy)
    finally:
        client.close()
    return OK


def check_media() -> CheckResult:
    """Check that a file of an image can be stored. Only uploads need this, so a failure is a warning."""
    return NOT_STORED if check_storage().is_problem else OK


def check_storage() -> CheckResult:
    """Check the same, and name the error, which may contain addresses."""
    remedy = "Make the folder of CONTENTAPI_MEDIA writable for this user, or correct the bucket or its credentials."
    try:
        store_probe()
    except Exception as error:  # noqa: BLE001 - boto3 has many
        return failed(f"Files of images cannot be stored. {error}", remedy)
    return OK


def report_database_state() -> None:
    """Log a line if the database is not available or has unapplied migrations, at the start of a server.

    The connection is closed: call this before a server forks its workers. Raises `SystemExit` as `require_agreement`.
    """
    results = require_agreement()
    if results["database"].is_problem:
        LOG.warning("%s The server starts, and is ready when the database is.", results["database"].reason)
    elif results["migrations"].is_problem:
        message = "%s Until then /readyz is 503, and requests that need the missing tables fail with 503."
        LOG.warning(message, results["migrations"].reason)


def require_agreement() -> Results:
    """Return the state of the database. Raises `SystemExit` if it and CONTENTAPI_DISTRIBUTED disagree."""
    with closing(DeadlineConnection()) as connection:
        results = check_database(connection, START_CHECK_LIMIT)
    reason = results["database"].reason
    if reason in REMEDIES:
        raise SystemExit(f"contentapi.CONTENTAPI_DISTRIBUTED: {reason}\n\tHINT: {REMEDIES[reason]}")
    return results
