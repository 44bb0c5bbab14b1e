"""Settings of every Django peer; BENCH_PEER names the module with its urls."""

import os

from psycopg.conninfo import conninfo_to_dict

_database = conninfo_to_dict(os.environ["DATABASE_URL"])
_peer = os.environ["BENCH_PEER"]

SECRET_KEY = "bench-only"
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
ROOT_URLCONF = _peer
MIDDLEWARE = []
# contenttypes: as in nearly every Django project. Without it strawberry_django
# retries (and fails) that import for every field of every request.
INSTALLED_APPS = ["django.contrib.contenttypes", "blog"]
if _peer == "peer_strawberry":
    INSTALLED_APPS += ["strawberry_django"]
if _peer == "peer_graphene":
    INSTALLED_APPS += ["graphene_django"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGGING_CONFIG = None
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": _database["host"],
        "NAME": _database["dbname"],
        "PORT": _database["port"],
        "USER": _database["user"],
        "PASSWORD": _database.get("password", ""),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": False,
    }
}
