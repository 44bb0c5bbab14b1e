"""Authentication: bearer tokens, signing keys, sessions."""
