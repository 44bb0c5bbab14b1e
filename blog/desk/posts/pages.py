"""The pages of a post in the desk that Django's admin does not have."""

from blog.desk.posts import announcements, autosave, conflict, history, links, presence, writing

MODULES = (announcements, autosave, conflict, history, links, presence, writing)
PAGES = [page for module in MODULES for page in module.PAGES]
