"""Tests of a project with own fields and an own type. They run with `tests.own.settings`."""
