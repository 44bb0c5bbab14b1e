"""Resource-oriented HTTP: the resource view, JSON in and JSON out, and how a failure is said.

    class PostResource(Resource):
        def get(self, asked: Asked, post_id: str) -> Answer:
            return ok(POST.one(selectors.post_by_id(asked.actor, post_id), asked.actor))

    path("posts/<str:post_id>", PostResource.as_view())

A method is a sentence: what is asked for goes to a selector or a service, and what comes back is an `Answer`. All else
is said here once: who asks and what it costs them, methods, media types, versions of the API (`markers`), bodies,
conditions, idempotency keys (`idempotency`), failures. Cookies are no credential.
"""

from contentapi.rest.request_bodies import Body, EmptyBody
from contentapi.rest.resource import Resource, ResourceRequest

__all__ = ["Body", "EmptyBody", "Resource", "ResourceRequest"]
