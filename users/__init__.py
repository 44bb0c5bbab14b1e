"""Users, and the credentials that say who is asking."""
