"""The header `WWW-Authenticate` of a response with status 401."""

from contentapi.conf import conf


def build_schemes(error: str = "") -> str:
    """Return the schemes that the API accepts, with the error code of a bearer token if there is one."""
    schemes = 'ApiKey realm="contentapi", Bearer realm="contentapi"'
    return f'{schemes}, error="{error}"' if error else schemes


def build_challenge(error: str = "") -> str:
    """Return the schemes and the metadata of the API, for a request without a Host."""
    return f'{build_schemes(error)}, resource_metadata="{conf.origin}/.well-known/oauth-protected-resource"'
