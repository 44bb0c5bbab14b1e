"""Files of images: their storage in a folder or in a bucket of S3, and their delivery."""
