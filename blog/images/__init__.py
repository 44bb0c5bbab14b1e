"""Images: their formats and addresses, the child process that decodes them, and how they are read."""
