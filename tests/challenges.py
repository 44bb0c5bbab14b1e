"""The header `WWW-Authenticate` of a response with status 401."""

from contentapi.conf import conf


def build_challenge(error: str = "") -> str:
    """Return the schemes that the API accepts, with the error code of a bearer token if there is one."""
    metadata = f'resource_metadata="{conf.origin}/.well-known/oauth-protected-resource"'
    schemes = 'ApiKey realm="contentapi", Bearer realm="contentapi"'
    return ", ".join([schemes, *([f'error="{error}"'] if error else []), metadata])
