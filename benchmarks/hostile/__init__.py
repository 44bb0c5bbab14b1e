"""`python -m benchmarks.hostile`: measure another client's requests while slow, broken and greedy clients attack."""
