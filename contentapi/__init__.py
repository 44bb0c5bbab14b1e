"""The Content API: the kernel that every app may import, and the composition root that nobody does."""
