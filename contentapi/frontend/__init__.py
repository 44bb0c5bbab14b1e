"""The files that browsers load: the explorer and the API reference, built from npm packages by `build`.

Their folder is named by the digest of their sources, so a browser may cache them forever. Only the standard library is
used, so that `build` needs no configured Django.
"""

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("package.json", "package-lock.json", "sources")
BUILT = HERE.parent / "static" / "frontend"  # where Django finds an app's static files


def hash_sources() -> str:
    """Return the name of the folder that `build` makes of the present sources."""
    files = [HERE / name for name in SOURCES if (HERE / name).is_file()]
    files += sorted(path for path in (HERE / "sources").rglob("*") if path.is_file())
    content = b"".join(f"{path.relative_to(HERE).as_posix()}\n".encode() + path.read_bytes() for path in files)
    return hashlib.sha256(content).hexdigest()[:12]


NAME = hash_sources()  # of the sources of this process


def find_built_folder() -> str:
    """Return the folder of the built files, as the static files name it. Empty until they are built."""
    return f"frontend/{NAME}/" if (BUILT / NAME).is_dir() else ""
