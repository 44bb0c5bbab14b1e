"""An update from one release to the next: no request fails, and no acknowledged write is lost."""

from pathlib import Path

import pytest

from tests.deployment.proxies import find_nginx
from tests.deployment.template import Template
from tests.e2e.rolling_update import update

pytestmark = [
    pytest.mark.servers,
    pytest.mark.thorough,
    pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed"),
]


def test_no_request_fails_while_a_release_replaces_another(tmp_path: Path, template: Template) -> None:
    observed = update(tmp_path, template)

    assert observed.failures == []
    assert observed.sent > observed.acknowledged == observed.stored > 0
    assert observed.state == (True, True, "''::character varying")
    assert observed.folders == [tmp_path / "new"] * 2
    assert "could not get a lock within 1s" in observed.output
    assert "problems that are not accepted: 0" in observed.checked
