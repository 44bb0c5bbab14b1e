"""REST resources with JSON request and response bodies.

    class PostResource(Resource):
        def get(self, request: ResourceRequest, post_id: str) -> Response:
            return POST.one(selectors.select_post_by_id(request.actor, post_id), request.actor)

    RESOURCES = {"posts/<str:post_id>": PostResource}  # in urls.py

A method calls a selector or a service and returns a `Response`. `Resource` does the rest: authentication, rate limits,
methods, media types, API versions, bodies, conditions, idempotency keys and errors. Cookies are not credentials.
"""

from contentapi.rest.request_bodies import Body, EmptyBody, ExpectedVersionBody
from contentapi.rest.resource import Resource, ResourceRequest
