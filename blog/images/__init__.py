"""Images: their formats, the names of their files, and the child process that decodes them."""
