"""What the blog adds to the API."""

from django.urls import path

from blog import policy, projections, resolvers, selectors, services, views
from blog.desk.preview_page import show_preview_page
from blog.desk.uploads import build_uploads
from contentapi.core.policy import STAFF
from contentapi.events.declarations import App, Entry, EventSource, Owners, Type

POST_ACTIONS = ("created", "updated", "scheduled", "published", "unpublished", "archived", "deleted", "restored")
COMMENT_ACTIONS = ("created", "hidden", "shown", "deleted")
CHANGES = ("created", "updated", "deleted")
POST_EVENTS = EventSource(POST_ACTIONS, policy.POST_EVENTS, views.POST)
COMMENT_EVENTS = EventSource(COMMENT_ACTIONS, policy.COMMENT_EVENTS, views.COMMENT)
AUTHOR_EVENTS = EventSource(CHANGES, policy.AUTHOR_EVENTS, views.AUTHOR)
IMAGE_EVENTS = EventSource(CHANGES, policy.visible_image_events, views.IMAGE)
IMAGE_INPUT = "blog.desk.posts.fields.ImageInput"
OWNERS = Owners(policy.select_author_id, services.authors.get_or_create_own_author_id)
RESOURCES = {
    "posts": views.PostCollection,
    "posts/<str:post_id>": views.PostResource,
    "posts/by-slug/<str:slug>": views.PostBySlugResource,  # before the paths of a post, which it matches too
    "posts/<str:post_id>/publish": views.PostPublishResource,
    "posts/<str:post_id>/working-copy": views.WorkingCopyResource,
    "posts/<str:post_id>/working-copy/publish": views.WorkingCopyPublishResource,
    "posts/<str:post_id>/preview-links": views.PreviewLinkCollection,
    "preview-links/<str:link_id>": views.PreviewLinkResource,
    "preview": views.PreviewResource,
    "posts/<str:post_id>/comments": views.CommentCollection,
    "posts/<str:post_id>/comments/<str:comment_id>": views.CommentResource,
    "images": views.ImageCollection,
    "images/<str:image_id>": views.ImageResource,
    "images/<str:image_id>/content": views.ImageContentResource,
    "authors": views.AuthorCollection,
    "authors/<str:author_id>": views.AuthorResource,
    "authors/<str:author_id>/posts": views.AuthorPostCollection,
}

API = App(
    types=[
        Type(projections.POST, selectors.posts.select_post_by_id, POST_EVENTS, projections.rows.filter_previewed_posts),
        Type(projections.COMMENT, selectors.comments.select_comment_by_id, COMMENT_EVENTS),
        Type(projections.AUTHOR, selectors.authors.select_author_by_id, AUTHOR_EVENTS, owners=OWNERS),
        Type(
            projections.IMAGE,
            selectors.images.select_image_by_id,
            IMAGE_EVENTS,
            selectors.images.select_kept_images,
            IMAGE_INPUT,
            selectors.images.select_seen_images,
        ),
        Type(projections.PREVIEW_LINK, selectors.previews.select_link_by_id),
    ],
    projections=projections.PROJECTIONS,
    representations=views.REPRESENTATIONS,
    bindables=resolvers.BINDABLES,
    resources=RESOURCES,
    pages=[path("previews", show_preview_page, name="preview_page")],
    build_uploads=build_uploads,
    jobs="blog.background",
    sidebar=[
        Entry("Posts", "article", "blog.Post"),
        Entry("Images", "image", "blog.Image"),
        Entry("Comments", "chat", "blog.Comment"),
        Entry("Authors", "person_edit", "blog.Author"),
        Entry("Imports", "upload_file", "blog.ImportJob"),
    ],
    desk_roles=STAFF,
    links=["posts", "authors"],
)
