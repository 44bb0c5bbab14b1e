"""Images: their formats, and the child process that decodes them."""
