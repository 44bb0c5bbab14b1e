"""Headers of the web pages for developers: the index, the explorer and the API reference."""

HTML = "text/html"


def build_page_headers(nonce: str = "") -> dict[str, str]:
    """Return the headers of a page. With a nonce, scripts of this server may add styles, and no cache may store it.

    The editors of the explorer and the API reference add style elements, which carry the nonce, and style attributes,
    which no nonce can allow. Neither can run a script.
    """
    styles = f"'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'" if nonce else "'self'"
    scripts = "script-src 'self'; worker-src 'self'; connect-src 'self'; " if nonce else ""
    return {
        "Content-Type": f"{HTML}; charset=utf-8",
        "Content-Security-Policy": (
            f"default-src 'none'; {scripts}style-src {styles}; img-src 'self' data:; font-src 'self' data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store" if nonce else "no-cache",
    }
