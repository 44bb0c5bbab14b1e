"""Import and export of Markdown files: front matter, zip files, jobs."""
