from django.urls import path

from blog import views
from blog.desk.preview_page import show_preview_page

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
urlpatterns = [path("previews", show_preview_page, name="preview_page")]
