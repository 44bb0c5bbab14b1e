"""The REST representations of posts, working copies, authors and comments. Their fields are in schema/resources/."""

from blog.previews import PREVIEW as PREVIEW_PROJECTION
from blog.previews import PREVIEW_LINK as PREVIEW_LINK_PROJECTION
from blog.projections import AUTHOR as AUTHOR_PROJECTION
from blog.projections import COMMENT as COMMENT_PROJECTION
from blog.projections import POST as POST_PROJECTION
from blog.projections import WORKING_COPY as WORKING_COPY_PROJECTION
from contentapi.rest.representations import Representation

POST = Representation(POST_PROJECTION, versioned=True)
AUTHOR = Representation(AUTHOR_PROJECTION, optional="email")
COMMENT = Representation(COMMENT_PROJECTION)
WORKING_COPY = Representation(WORKING_COPY_PROJECTION, noun="working copy", versioned=True)
PREVIEW_LINK = Representation(PREVIEW_LINK_PROJECTION, noun="preview link")
PREVIEW = Representation(PREVIEW_PROJECTION)

REPRESENTATIONS = [POST, AUTHOR, COMMENT, WORKING_COPY, PREVIEW_LINK, PREVIEW]
