"""`python -m benchmarks.drill.image_files`: print what is wrong with the files of images after the cleaning of a day.

Prints a list in JSON: the files that rows name and that are missing, and those that no row names.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")

import django

django.setup()

import json  # noqa: E402
from datetime import timedelta  # noqa: E402
from pathlib import Path  # noqa: E402

from django.utils import timezone  # noqa: E402

from blog import services  # noqa: E402
from blog.models import Image  # noqa: E402
from blog.services.image_repairs import list_named_files  # noqa: E402
from contentapi.core.identity import OPERATOR, WORKER  # noqa: E402
from contentapi.media.access import get_storage  # noqa: E402


def main() -> None:
    let_a_day_pass()
    services.delete_outdated_files(actor=WORKER)
    services.purge_uploads(actor=WORKER)
    findings = list(services.image_repairs.check_media(actor=OPERATOR, repair=True))
    named = {name for image in Image.objects.all() for name in list_named_files(image)}
    stored = {file.name for file in get_storage().list_files()}
    wrong = [f"missing of image {each.image}: {each.name}" for each in findings if each.image is not None]
    wrong += [f"missing: {name}" for name in sorted(named - stored)]
    wrong += [f"no image names {name}" for name in sorted(stored - named)]
    print(json.dumps(wrong))


def let_a_day_pass() -> None:
    for file in get_storage().list_files():
        os.utime(Path(os.environ["CONTENTAPI_VAR"]) / "media" / file.name, (0, 0))
    Image.objects.exclude(outdated_at=None).update(outdated_at=timezone.now() - timedelta(days=2))


if __name__ == "__main__":
    main()
