"""`python -m benchmarks.hostile`: what slow, broken and greedy clients do to another client's requests."""
