"""The paths of the explorer: GraphiQL, bundled from npm packages.

The folder of its script and style sheet is named by the digest of their sources, so a browser may cache them forever.
Only the standard library is used, so that `build` needs no configured Django.
"""

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("package.json", "package-lock.json", "explorer.js", "explorer.css")
BUILT = HERE.parent.parent / "static" / "explorer"  # where Django finds an app's static files


def hash_sources() -> str:
    content = b"".join((HERE / name).read_bytes() for name in SOURCES)
    return hashlib.sha256(content).hexdigest()[:12]
