"""Places for a few things at a time."""

from contentapi.rate_limits.places import Places


def test_places_are_few_for_each_and_for_a_process() -> None:
    places = Places(5)
    assert [places.enter(1, most=3) for _ in range(4)] == [True, True, True, False]
    assert [places.enter(person, most=3) for person in (2, 3, 4)] == [True, True, False]

    places.leave(1)
    assert places.enter(None, most=1)
    assert not places.enter(None, most=1)


def test_those_without_a_place_are_forgotten() -> None:
    places = Places(1)
    places.enter(1, most=1)
    places.leave(1)

    assert (places.taken, places.free) == ({}, 1)
