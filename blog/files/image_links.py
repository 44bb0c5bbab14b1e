"""The images of a Markdown text, and those whose file a zip file does not have.

Site generators resolve the address of an image in different ways. So an image is found if the path of any file ends
with the path of the image. The patterns are bounded: each takes time in proportion to the text.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote

MAX_PARTS = 8  # the last folders of a path, and the name of the file
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
IMAGE = re.compile(
    r"!\[(?P<text>[^\[\]\n]{0,300})\]"
    r"(?:\( {0,3}(?:<(?P<pointed>[^<>\n]{1,500})>|(?P<plain>(?:[^\s()<>]|\([^\s()<>]{0,100}\)){1,500}))"
    r"|\[(?P<label>[^\[\]\n]{0,300})\])?"
    r"|<img\b[^<>]{0,500}?\bsrc {0,3}= {0,3}[\"']?(?P<html>[^\"'>\s]{1,500})",
    re.IGNORECASE,
)
DEFINITION = re.compile(r" {0,3}\[([^\]\n]{1,300})\]: {0,3}<?([^\s<>]{1,500})")
REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
TEMPLATES = ("{{", "{%")  # the site generator computes this address


def build_path_ends(paths: Iterable[str]) -> set[str]:
    """Return all ends of the paths: of `a/b.png` also `b.png`."""
    return {"/".join(parts[start:]) for parts in map(split_path, paths) for start in range(len(parts))}


def list_missing_images(text: str, path_ends: Collection[str]) -> list[str]:
    """Return the addresses of the images in a Markdown text that must be in the zip file and are not, each once."""
    missing = (address for address in find_images(text) if is_local(address) and find_end(address) not in path_ends)
    return list(dict.fromkeys(missing))


def find_images(text: str) -> Iterator[str]:
    """Yield the address of each image. Blocks of code have none."""
    lines = [line for line, is_code in find_code(text) if not is_code]
    definitions = {found[1].casefold(): found[2] for line in lines if (found := DEFINITION.match(line))}
    for line in lines:
        for found in IMAGE.finditer(line):
            address = found["pointed"] or found["plain"] or found["html"]
            label = (found["label"] or found["text"] or "").casefold()
            if address or label in definitions:
                yield address or definitions[label]


def find_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is part of a block of code."""
    fence = ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        yield line, bool(fence or found)
        if fence:
            fence = "" if found and found[1].startswith(fence) else fence
        elif found:
            fence = found[1]


def is_local(address: str) -> bool:
    return not REMOTE.match(address) and not any(mark in address for mark in TEMPLATES)


def find_end(address: str) -> str:
    return "/".join(split_path(unquote(re.split("[?#]", address, maxsplit=1)[0])))


def split_path(path: str) -> list[str]:
    """Return the last parts of a path."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")][-MAX_PARTS:]
