from users import views

RESOURCES = {
    "users": views.UserCollection,
    "users/<str:user_id>": views.UserResource,
}
