"""One look at each command of tests/quality that `make check` does not run itself: what fails it."""

import json

from tests.quality import audit
from tests.quality.mutation import Mutant, read_changed_lines


def test_audit_fails_for_a_vulnerability_unless_it_is_accepted() -> None:
    finding = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.1"]}
    output = json.dumps({"dependencies": [{"name": "thing", "version": "2.0", "vulns": [finding]}]})
    found = audit.parse_output(output)

    assert audit.parse_output("Traceback: …") is None
    assert found is not None
    assert list(audit.find_problems(found, {})) == ["thing 2.0: CVE-1, PYSEC-1, fixed in 2.1."]
    assert list(audit.find_problems(found, {"CVE-1": "not used"})) == []


def test_mutant_is_read_from_a_diff() -> None:
    diff = ["--- a.py", "+++ a.py", "@@ -1,2 +1,2 @@", " def f(a):", "-    return a and b", "+    return a or b"]

    assert Mutant("f", *read_changed_lines(diff)) == Mutant("f", "return a and b", "return a or b")
