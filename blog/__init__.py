"""Posts, their authors and their comments."""
