from django.urls import path

from blog import views

urlpatterns = [
    path("posts", views.PostCollection.as_view()),
    path("posts/<str:post_id>", views.PostResource.as_view()),
    path("posts/<str:post_id>/publish", views.PostPublishResource.as_view()),
    path("posts/<str:post_id>/comments", views.CommentCollection.as_view()),
    path("posts/<str:post_id>/comments/<str:comment_id>", views.CommentResource.as_view()),
    path("authors", views.AuthorCollection.as_view()),
    path("authors/<str:author_id>", views.AuthorResource.as_view()),
    path("authors/<str:author_id>/posts", views.AuthorPostCollection.as_view()),
]
