"""Orders, from pending to delivered."""
