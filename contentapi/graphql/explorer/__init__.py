"""The explorer, GraphiQL, made of npm's packages: where its files lie, and what they are made from.

Its script and its style sheet lie in a folder that is named for the digest of all that they are made from. What lies
there is up to date, and a browser may keep it for ever. Only the standard library is used: `build` runs before Django.
"""

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("package.json", "package-lock.json", "explorer.js", "explorer.css")
BUILT = HERE.parent.parent / "static" / "explorer"  # where Django finds an app's static files


def digest() -> str:
    content = b"".join((HERE / name).read_bytes() for name in SOURCES)
    return hashlib.sha256(content).hexdigest()[:12]
