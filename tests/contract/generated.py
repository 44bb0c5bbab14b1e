"""Write the parts of documents that repeat code. `python -m tests.contract.generated`, a part of `make format`."""

from collections.abc import Callable
from pathlib import Path

from tests.contract.internals import build_tables

ROOT = Path(__file__).resolve().parents[2]
PARTS: dict[tuple[str, str], Callable[[], str]] = {("docs/internals.md", "internals"): build_tables}


def main() -> None:
    for name, marker in PARTS:
        path = ROOT / name
        path.write_text(replace_part(path.read_text(), marker, PARTS[name, marker]()))


def replace_part(document: str, marker: str, text: str) -> str:
    """Return the document with another text between `<!-- marker -->` and `<!-- /marker -->`."""
    start, end = f"<!-- {marker} -->\n", f"\n<!-- /{marker} -->"
    before, _, rest = document.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"The document has no {start.strip()} … {end.strip()}.")
    return before + start + text + end + after


if __name__ == "__main__":
    main()
