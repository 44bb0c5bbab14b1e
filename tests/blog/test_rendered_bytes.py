"""One version of the renderer always returns the same bytes."""

from collections.abc import Sequence
from hashlib import sha256

from blog.rendering import RENDERER, ShownImage, render_post
from tests.blog.xss import VECTORS

SAMPLE = """# Soup *for* forty

Boil **it**, ~~fry it~~ and see https://www.example.com/a?b=c[^1].

| Fish | Price |
|:-----|------:|
| Cod  | 1.50  |

- [x] buy
- [ ] boil

```python title="soup.py"
boil("fish & <chips>")
```

<figure><img src="//www.example.com/a.png" alt="Soup"><figcaption>Soup</figcaption></figure>

> A quote with <kbd>keys</kbd>, ![an image](https://www.example.com/b.png "Title") and a [link][1].

![A boat](image:7 "Title") and ![](image:8)

[1]: /relative "Title"
[^1]: A footnote.
"""
DIGESTS = {
    1: "06d25055ae867b7d9af405f7110afe5c227c8c7709e761a92e4c4289cc824374",
    2: "90ac36ef14d394db8265054d9e470e9416e182db63b16c991909f883b0c3d81c",
    3: "d99311ea77543d2ab751dd678b63bafc3f7ae98b8c9ad1b898571221bddea267",
    4: "654915794e314212a3c38922614fd5eae43a9a9277ae9d53d05e93f8f9bb0ea4",
    5: "ddae036fc0285f2135de72d1e4da5c4963367201c6fc8510e09cbb1df972249b",
}


def find(ids: Sequence[int]) -> dict[int, ShownImage]:
    return dict.fromkeys(
        ids, ShownImage("https://cdn.example.com/a.jpg", "https://cdn.example.com/a.webp 320w", 700, 350, "Own")
    )


def test_output_has_not_changed_without_a_new_number_of_the_renderer() -> None:
    """If this fails, increase `RENDERER`, run `makemigrations`, and add the digest of the new number."""
    output = "\0".join(repr(render_post(text, None, find)) for text in (SAMPLE, *VECTORS))

    assert sha256(output.encode()).hexdigest() == DIGESTS[RENDERER]
