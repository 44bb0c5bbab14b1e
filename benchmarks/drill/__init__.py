"""`python -m benchmarks.drill`: break parts of a deployment under load, and count what clients lose."""
