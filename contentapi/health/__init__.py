"""Whether the server is alive and ready to serve, and what is wrong if it is not."""
