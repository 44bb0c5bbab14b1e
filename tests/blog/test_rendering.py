"""Markdown to HTML: what readers see, and what is removed."""

import re

from blog.rendering import render_markdown
from blog.rendering.markdown import SANITIZERS
from tests.blog.examiner import Examiner
from tests.blog.xss import VECTORS


def test_rendered_attack_has_only_allowed_elements_and_addresses() -> None:
    for vector in VECTORS:
        for text in (vector, f"Some text {vector} and more", f"> {vector}\n", f"- a\n- {vector}\n"):
            html = render_markdown(text, with_lines=True)

            assert Examiner(html).findings == []
            assert Examiner(SANITIZERS[True].clean(html)).parts == Examiner(html).parts  # a parser reads what it wrote


def test_text_is_rendered_as_markdown_with_html() -> None:
    for text, html in [
        (
            "# One\n\ntwo *three* **four**",
            '<h1 id="section-one">One</h1>\n<p>two <em>three</em> <strong>four</strong></p>\n',
        ),
        ("~~gone~~", "<p><del>gone</del></p>\n"),
        ("a\\\nb", "<p>a<br>\nb</p>\n"),
        ("`a<b`", "<p><code>a&lt;b</code></p>\n"),
        (
            "[a](http://b.invalid 't')",
            '<p><a href="http://b.invalid" title="t" rel="noopener noreferrer nofollow">a</a></p>\n',
        ),
        ("![a](https://b.invalid/b.png)", '<p><img src="https://b.invalid/b.png" alt="a"></p>\n'),
        ("Imported <kbd>Ctrl</kbd> and<br/>more", "<p>Imported <kbd>Ctrl</kbd> and<br>more</p>\n"),
        (
            "<figure>\n<img src='//b.invalid/a.png' width=3>\n</figure>",
            '<figure>\n<img src="//b.invalid/a.png" width="3">\n</figure>\n',
        ),
        ("", ""),
    ]:
        assert render_markdown(text) == html


def test_image_without_a_host_has_no_address() -> None:
    for address in ["b.png", "/b.png", "./b.png", "../b.png", "?b", "#b", "http:b.png", "https:/b.png", " b.png", ""]:
        for text in (f"![a](<{address}>)", f'<p><img alt="a" src="{address}"></p>'):
            assert "src" not in render_markdown(text)
            assert 'alt="a"' in render_markdown(text)


def test_blocks_name_the_lines_that_they_come_from() -> None:
    text = "# One\n\ntwo *and*\nthree\n\n- four\n- five\n\n```py\nsix\n```\n\na|b\n-|-\n1|2\n"

    found = re.findall(r'<(\w+)[^>]* data-sourcepos="(\d+):\d+-(\d+):\d+"', render_markdown(text, with_lines=True))

    assert found == [
        ("h1", "1", "1"),
        ("p", "3", "4"),
        ("ul", "6", "7"),
        ("li", "6", "6"),
        ("li", "7", "8"),
        ("pre", "9", "11"),
        ("table", "13", "15"),
        ("tr", "13", "13"),
        ("tr", "15", "15"),
    ]
    assert "sourcepos" not in render_markdown(text)


def test_code_names_its_language() -> None:
    assert '<pre><code class="language-c++">' in render_markdown("```c++ title=x\n1\n```")
    assert "<pre><code>" in render_markdown('<pre><code class="hidden language-py">1</code></pre>')


def test_task_lists_have_checkboxes_that_nobody_can_use() -> None:
    html = render_markdown("- [x] one\n- [ ] two\n\n<input type=text name=password onfocus=x><input>")

    assert re.findall("<input[^>]*>", html) == [
        '<input type="checkbox" checked="" aria-label="Completed task" disabled="">',
        '<input type="checkbox" aria-label="Incomplete task" disabled="">',
        '<input type="checkbox" disabled="">',
        '<input disabled="">',
    ]


def test_checkbox_that_a_person_wrote_as_html_is_no_task() -> None:
    mine = '<input type="checkbox" disabled="" aria-label="Mine">'

    assert render_markdown(f"- {mine} one") == f"<ul>\n<li>{mine} one</li>\n</ul>\n"
    assert "task" not in render_markdown("""<a title='<input type="checkbox" disabled="" />'>one</a>""")


def test_bare_and_relative_addresses_are_links() -> None:
    for text, address in [
        ("See https://a.invalid/b_c.", "https://a.invalid/b_c"),
        ("See www.a.invalid!", "http://www.a.invalid"),
        ("Write to ann@a.invalid.", "mailto:ann@a.invalid"),
        ("[a](/b?c#d)", "/b?c#d"),
    ]:
        assert re.findall('href="([^"]*)"', render_markdown(text)) == [address]


def test_other_schemes_are_removed() -> None:
    for scheme in ["javascript", "JAVASCRIPT", "data", "vbscript", "file", "blob"]:
        for text in (f"[a]({scheme}:x)", f"<{scheme}:x>", f'<a href="{scheme}:x">a</a>', f"[a]: {scheme}:x\n\n[a]"):
            assert "href" not in render_markdown(text)


def test_cells_of_a_table_keep_their_alignment() -> None:
    html = render_markdown("a|b\n:-|-:\n1|2")

    assert re.findall(r"<t[hd](?: [^>]*)?>", html) == [
        '<th align="left">',
        '<th align="right">',
        '<td align="left">',
        '<td align="right">',
    ]


def test_code_has_its_language_however_others_write_it() -> None:
    for info, language in [
        ("py", "py"),
        ("go,editable,should_panic", "go"),
        ("ts{2,4-6}", "ts"),
        ("ts [api.ts]", "ts"),
        ('yaml:title="a b.yml"', "yaml"),
        ("python=12", "python"),
        ("c#", "c#"),
        ("objective-c++ {1}", "objective-c++"),
        ("{julia}", "julia"),
        ("{python, echo=FALSE}", "python"),
        ("{.haskell #code .numberLines}", "haskell"),
        ("{ .haskell }", "haskell"),
        ("{#code .haskell startFrom=10}", "haskell"),
        ("{code-block} sql", "sql"),
        ("lang-sql", "sql"),
        ("{linenos=table}", None),
        ('"onclick=alert(1)', None),
    ]:
        html = render_markdown(f"~~~{info}\na\n~~~")

        assert re.findall('class="([^"]*)"', html) == ([f"language-{language}"] if language else [])


def test_emphasis_needs_no_spaces_in_chinese_japanese_and_korean() -> None:
    for text in ["**「重要」**です", "请看**“注意”**一词", "제목은 **「바다」**입니다", "中文~~『旧』~~的"]:
        assert "**" not in render_markdown(text)
        assert "~~" not in render_markdown(text)


def test_tag_without_an_end_is_text() -> None:
    for name in ["title", "TEXTAREA", "noscript", "select", "object", "xmp", "plaintext", "svg", "details"]:
        rendered = f'<p>See &lt;{name} a="&lt;"&gt; *b*.</p>\n<p>More</p>\n'.replace("*b*", "<em>b</em>")

        assert render_markdown(f'See <{name} a="<"> *b*.\n\nMore') == rendered


def test_block_without_an_end_leaves_markdown_after_it() -> None:
    for name in ["script", "style", "textarea", "pre"]:
        assert render_markdown(f"<{name}>\n\n*a*\n\n`<{name}>`") == (
            f"<p>&lt;{name}&gt;</p>\n<p><em>a</em></p>\n<p><code>&lt;{name}&gt;</code></p>\n"
        )


def test_only_comments_and_code_are_removed_with_their_tags() -> None:
    for text, html in [
        ("a <script>b</script> c", "<p>a  c</p>\n"),
        ("a <SCRIPT src='>'>b</SCRIPT > c", "<p>a  c</p>\n"),
        ("a <script>*b*</script> c", "<p>a <em>b</em> c</p>\n"),
        ("a <iframe src=x /> b", "<p>a  b</p>\n"),
        ("<style>\n\nb { c: '<p>' }\n</style>\n", "\n"),
        ("a <template><b>c</b></template> d", "<p>a  d</p>\n"),
        ("a <textarea>b <i>c</i></textarea> d", "<p>a b <i>c</i> d</p>\n"),
        ("<svg><title>Icon</title><style>a{}</style></svg>", "<p>Icon</p>\n"),
        ("a <!-- <b> --> c <!--> d", "<p>a  c  d</p>\n"),
        ("> <!--\n\na <!-- -->", "<blockquote>\n&lt;!--\n</blockquote>\n<p>a </p>\n"),
        ("- <div title='\n\nb's", "<ul>\n<li>\n&lt;div title='\n</li>\n</ul>\n<p>b's</p>\n"),
        ("a <?php b ?> <![CDATA[c]]>", "<p>a &lt;?php b ?&gt; &lt;![CDATA[c]]&gt;</p>\n"),
        ("<div a='b>\nc\n\nd", "&lt;div a='b&gt;\nc\n<p>d</p>\n"),
        ("<details><summary>a</summary>b</details>", "<details><summary>a</summary>b</details>\n"),
    ]:
        assert render_markdown(text) == html


def test_cells_without_a_column_are_in_the_last_one() -> None:
    html = render_markdown("> | a | b |\n> |--|--|\n> | 1 | 2 | `3|4` | \\| |\n\n```\na|b\n-|-\n1|2|3\n```")

    assert re.findall("<td>(.*?)</td>", html) == ["1", "2 | <code>3|4</code> | |"]
    assert "1|2|3\n</code>" in html
