"""The REST representations of the blog. Their fields are in schema/resources/."""

from blog.images.queries import IMAGE as IMAGE_PROJECTION
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
IMAGE = Representation(IMAGE_PROJECTION, versioned=True)
PREVIEW_LINK = Representation(PREVIEW_LINK_PROJECTION, noun="preview link")
PREVIEW = Representation(PREVIEW_PROJECTION)

REPRESENTATIONS = [POST, AUTHOR, COMMENT, IMAGE, WORKING_COPY, PREVIEW_LINK, PREVIEW]
