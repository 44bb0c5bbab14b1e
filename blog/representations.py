"""The REST representations of posts, authors and comments. Their fields are in schema/resources/."""

from blog.projections import AUTHOR as AUTHOR_PROJECTION
from blog.projections import COMMENT as COMMENT_PROJECTION
from blog.projections import POST as POST_PROJECTION
from contentapi.rest.representations import Representation

POST = Representation(POST_PROJECTION, versioned=True)
AUTHOR = Representation(AUTHOR_PROJECTION, optional="email")
COMMENT = Representation(COMMENT_PROJECTION)

REPRESENTATIONS = [POST, AUTHOR, COMMENT]
