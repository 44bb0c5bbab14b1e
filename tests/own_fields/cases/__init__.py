"""Tests of a project with own fields. They run with `tests.own_fields.settings`."""
