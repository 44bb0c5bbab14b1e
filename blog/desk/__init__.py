"""The editors' client: pages of the admin for posts, comments, authors and imports."""
