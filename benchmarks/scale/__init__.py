"""Two hosts behind haproxy, a primary with two replicas, Redis and PgBouncer on one machine: `make scale`."""
