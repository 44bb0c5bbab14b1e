"""The editors' client: pages of the admin for posts, images, comments, authors and imports."""
