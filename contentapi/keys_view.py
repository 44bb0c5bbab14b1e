"""The public halves of the keys that sign bearer tokens (RFC 7517), for whoever verifies them elsewhere."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.errors import MethodNotAllowed
from contentapi.keys import keys
from contentapi.rest import accept_of, error_response

# Seconds. A new key signs at once, so verifiers must hear of it within a minute: servers look for it every few seconds,
# and this is for the caches in between.
MAX_AGE = 30


@csrf_exempt  # so that a POST is told what is allowed
def jwks(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return error_response(MethodNotAllowed(str(request.method), ["GET", "HEAD"]), accept_of(request))
    published = [key.public_jwk for key in keys().published()]
    return JsonResponse({"keys": published}, headers={"Cache-Control": f"public, max-age={MAX_AGE}"})
