"""The pages of a post in the desk that Django's admin does not have."""

from blog.desk.posts import autosave, conflict, history, links, presence, writing

PAGES = [*autosave.PAGES, *conflict.PAGES, *history.PAGES, *links.PAGES, *presence.PAGES, *writing.PAGES]
