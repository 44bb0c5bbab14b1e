"""Links from the desk to the post on the web site, if `CONTENTAPI_SITE_POST_URL` states its address."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from blog.models import Post, PostStatus
from contentapi.conf import conf


def link_site(post: Post | None) -> SafeString | str:
    """Return a link to a public post on the web site; nothing for another post, or without the setting."""
    address = conf.environment.contentapi_site_post_url
    if not address or post is None or post.status != PostStatus.PUBLISHED or not post.slug:
        return ""
    html = '<a class="message-link" href="{}" target="_blank" rel="noopener">View on the site</a>'
    return format_html(html, address.replace("{slug}", post.slug, 1))
