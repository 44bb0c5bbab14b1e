"""The settings of a project in the folder OWN_PROJECT, whose SDL has the files of `schema` beside those of this one."""

import os
import shutil
import sys
from pathlib import Path

from contentapi.conf import content_apps

PROJECT = Path(os.environ["OWN_PROJECT"])
if not (PROJECT / "schema").exists():
    shutil.copytree(content_apps.SCHEMA_DIR, PROJECT / "schema")
    shutil.copytree(Path(__file__).parent / "schema", PROJECT / "schema", dirs_exist_ok=True)
content_apps.SCHEMA_DIR = PROJECT / "schema"  # in which the settings look for own types
sys.path.insert(0, str(PROJECT))

from contentapi.settings import *  # noqa: E402, F403
from contentapi.settings import CONTENT_APPS, DATABASES, INSTALLED_APPS  # noqa: E402

BASE_DIR = PROJECT
OWN_APPS = content_apps.find_content_apps(PROJECT)
CONTENT_APPS = [*CONTENT_APPS, *OWN_APPS]
INSTALLED_APPS = [*INSTALLED_APPS, *OWN_APPS]
DATABASES["default"]["TEST"] = {**DATABASES["default"].get("TEST", {}), "NAME": f"test_own_{os.getpid()}"}
