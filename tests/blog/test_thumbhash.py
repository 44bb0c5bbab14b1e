"""The placeholders of images, compared with those that the encoder of the format's author makes."""

from blog.images.thumbhash import encode_thumbhash

HEADER = 10  # digits before the terms
# Width, height, whether the image has transparency, and the hash of the npm package thumbhash 0.1.1.
VECTORS = [
    (1, 1, False, "c3060a570008f708888788708f7088f80888707ff8000000"),
    (2, 2, False, "c4f609070277088887787887888887088878580885728f08"),
    (7, 5, False, "cbf605158480878791888887887888879c1f67f588"),
    (5, 7, False, "cbe605150682879088788878888778788f2b68f788"),
    (100, 37, False, "1f0806038286854076766577b056090e86"),
    (37, 100, False, "1f08060b025497723057767784fa15859f"),
    (64, 64, False, "1f08060f0287376756079875856b78696866979d60e70802"),
    (100, 1, False, "561a2e9184777787888808887788808408"),
    (1, 1, True, "00088205000000000000000000000000000000000000000000"),
    (7, 5, True, "8de6810c8214b087d1877a77c8f760566f0577178877888707"),
    (5, 7, True, "8dd6810c021590077db87787f8a771747f3477078878888707"),
    (100, 37, True, "1f08820282079190736487815b3f0ea84646887544940a"),
    (37, 100, True, "1f0882020208549783608583f91487af97066838687896"),
    (64, 64, True, "1f08820d020786376707758469c90987ae003606b6c542611c"),
    (100, 1, True, "970ab2a1847777778888807788908708777788888078f8"),
]


def make_pixels(width: int, height: int, *, has_alpha: bool) -> list[tuple[int, int, int, int]]:
    return [
        (
            (7 * x + 3 * y) % 256,
            (x * x + 11 * y) % 256,
            (5 * x * y + 40) % 256,
            (13 * x + 17 * y) % 256 if has_alpha else 255,
        )
        for y in range(height)
        for x in range(width)
    ]


def test_hash_is_that_of_the_author() -> None:
    """Digits of terms are half a digit from two numbers if a term is zero: the order of a sum then decides."""
    for width, height, has_alpha, expected in VECTORS:
        made = encode_thumbhash(width, height, make_pixels(width, height, has_alpha=has_alpha)).hex()

        assert made[:HEADER] == expected[:HEADER]
        assert len(made) == len(expected)
        assert all(abs(int(one, 16) - int(other, 16)) <= 1 for one, other in zip(made, expected, strict=True))
