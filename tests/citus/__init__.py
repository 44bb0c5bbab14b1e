"""Tests on a cluster of Citus: a coordinator and two workers. `make test-citus` runs them."""
