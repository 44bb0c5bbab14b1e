"""Own types and own fields: what a team declares in the SDL."""
