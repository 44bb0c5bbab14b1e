"""The settings of a project whose SDL has `schema/own.graphql` beside the files of this one."""

import os
import shutil
import tempfile
from pathlib import Path

from contentapi.settings import *  # noqa: F403
from contentapi.settings import DATABASES
from contentapi.settings import SCHEMA_DIR as SCHEMA_OF_PROJECT

FOLDER = Path(os.environ.get("OWN_FIELDS_FOLDER") or tempfile.mkdtemp())
SCHEMA_DIR = FOLDER / "schema"
if not SCHEMA_DIR.exists():
    shutil.copytree(SCHEMA_OF_PROJECT, SCHEMA_DIR)
    shutil.copy(Path(__file__).parent / "schema" / "own.graphql", SCHEMA_DIR)
DATABASES["default"]["TEST"] = {**DATABASES["default"].get("TEST", {}), "NAME": f"test_own_fields_{os.getpid()}"}
