"""The side-by-side benchmark: `make bench`. See README.md."""
