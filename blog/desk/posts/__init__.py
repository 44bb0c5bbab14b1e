"""The pages of a post in the desk, one module for each."""
