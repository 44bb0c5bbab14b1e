"""Images in the graph: addresses, the images of posts, the posts of an image, and who sees them."""

import hashlib
import io
from threading import Event
from typing import Any

from blog import services
from blog.models import Image, Post, PostStatus
from contentapi.core.identity import Role, Scope
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import make_ready_image
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_image, make_post


def get_start(image: Image) -> str:
    return f"http://localhost:8000/media/{image.pk}-{image.key}/"


def test_addresses_of_an_image_that_is_ready(gql: GraphQL) -> None:
    image = make_ready_image()
    query = """query Read($id: ID!, $width: Int) { image(id: $id) {
        original: url small: url(width: 1) fitting: url(width: 640) chosen: url(width: $width, format: jpeg)
        large: url(width: 9000) missing: url(width: 1, format: avif) srcset none: srcset(format: avif)
        width height contentType size thumbhash rejection focalPoint { x y } version } }"""

    found = gql(query, actor=make_actor(Role.EDITOR), id=str(image.pk), width=321).data["image"]

    start = get_start(image)
    assert found == {
        "original": f"{start}700.jpg",
        "small": f"{start}320.webp",
        "fitting": f"{start}640.webp",
        "chosen": f"{start}640.jpg",
        "large": f"{start}700.webp",
        "missing": None,
        "srcset": f"{start}320.webp 320w, {start}640.webp 640w, {start}700.webp 700w",
        "none": "",
        "width": 700,
        "height": 350,
        "contentType": "image/jpeg",
        "size": 1000,
        "thumbhash": image.thumbhash,
        "rejection": None,
        "focalPoint": {"x": 0.5, "y": 0.5},
        "version": "1",
    }


def test_image_that_is_not_ready_has_no_address(gql: GraphQL) -> None:
    query = "query Read($id: ID!) { image(id: $id) { status url small: url(width: 1) srcset width } }"

    found = gql(query, actor=make_actor(Role.EDITOR), id=str(make_image().pk)).data["image"]

    assert found == {"status": "processing", "url": None, "small": None, "srcset": "", "width": 0}


def test_width_below_one_is_refused(gql: GraphQL) -> None:
    response = gql("{ image(id: 1) { url(width: 0) } }")

    assert response.body["errors"][0]["message"] == "width must be 1 or more (got 0)."


def test_a_writer_sees_every_image_and_others_those_of_visible_posts(gql: GraphQL) -> None:
    unused, cover, in_text, hidden, deleted = (make_ready_image() for _ in range(5))
    make_post(cover_id=cover.pk)
    make_post(body=f"![a](image:{in_text.pk})")
    make_post(status=PostStatus.DRAFT, cover_id=hidden.pk)
    make_post(cover_id=deleted.pk)
    services.render_posts(Event())
    Image.objects.filter(pk=deleted.pk).update(deleted_at="2026-01-01T00:00:00Z")
    images = (unused, cover, in_text, hidden, deleted)
    fields = " ".join(f"i{image.pk}: image(id: {image.pk}) {{ id }}" for image in images)
    readers = [None, make_actor(Role.READER), make_actor(Role.AUTHOR, scopes={Scope.POSTS_READ})]
    writers = [
        *(make_actor(Role.AUTHOR, scopes={scope}) for scope in (Scope.POSTS_WRITE, Scope.IMAGES_WRITE)),
        make_actor(Role.EDITOR),
    ]

    seen = {
        actor: [int(found["id"]) for found in gql(f"{{ {fields} }}", actor=actor).data.values() if found]
        for actor in (*readers, *writers)
    }

    assert [seen[actor] for actor in readers] == [[cover.pk, in_text.pk]] * 3
    assert [seen[actor] for actor in writers] == [[unused.pk, cover.pk, in_text.pk, hidden.pk]] * 3


def test_post_has_its_cover_and_the_images_of_its_text_in_their_order(gql: GraphQL) -> None:
    cover, first, second = (make_ready_image(alt=alt) for alt in ("Cover", "First", "Second"))
    body = f"![](image:{second.pk})\n\n![Here](image:{first.pk}) ![again](image:{second.pk}) ![](image:999999)"
    post = make_post(body=body, cover_id=cover.pk)
    services.render_posts(Event())
    query = "query Read($id: ID!) { post(id: $id) { cover { image { id alt } alt } images { image { id } alt } } }"

    found = gql(query, id=str(post.pk)).data["post"]

    assert found == {
        "cover": {"image": {"id": str(cover.pk), "alt": "Cover"}, "alt": "Cover"},
        "images": [
            {"image": {"id": str(second.pk)}, "alt": "Second"},
            {"image": {"id": str(first.pk)}, "alt": "Here"},
        ],
    }
    Post.objects.filter(pk=post.pk).update(cover_alt="For this post")
    Image.objects.filter(pk=second.pk).update(deleted_at="2026-01-01T00:00:00Z")
    found = gql(query, id=str(post.pk)).data["post"]
    assert found["cover"]["alt"] == "For this post"
    assert [each["image"]["id"] for each in found["images"]] == [str(first.pk)]
    Image.objects.filter(pk=cover.pk).update(deleted_at="2026-01-01T00:00:00Z")
    assert gql(query, id=str(post.pk)).data["post"]["cover"] is None


def test_images_of_a_longer_text_from_before_are_as_many_as_they_cost(gql: GraphQL) -> None:
    images = [make_image() for _ in range(103)]
    pks = [image.pk for image in images]
    post = make_post(status="published")
    Post.objects.filter(pk=post.pk).update(image_ids=pks, image_alts=[""] * len(pks))

    shown = gql("{ posts(limit: 1) { images { image { id usedBy(first: 1) { totalCount } } } } }").data["posts"][0]

    assert [each["image"]["id"] for each in shown["images"]] == [*map(str, pks[:100])]
    assert {each["image"]["usedBy"]["totalCount"] for each in shown["images"]} == {1}


def test_posts_of_an_image_are_those_that_the_caller_may_see(gql: GraphQL) -> None:
    image = make_ready_image()
    public, draft = make_post(cover_id=image.pk), make_post(status=PostStatus.DRAFT, cover_id=image.pk)
    text = make_post(body=f"![a](image:{image.pk})")
    make_post()
    services.render_posts(Event())
    query = """query Read($id: ID!, $after: String) { image(id: $id) { usedBy(first: 1, after: $after) {
        totalCount pageInfo { endCursor hasNextPage } edges { node { id } } } } }"""

    def list_all(actor: Any) -> list[str]:
        found, after = [], None
        while True:
            page = gql(query, actor=actor, id=str(image.pk), after=after).data["image"]["usedBy"]
            found += [edge["node"]["id"] for edge in page["edges"]]
            assert page["totalCount"] == (2 if actor is None else 3)
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return found

    assert list_all(None) == [str(text.pk), str(public.pk)]
    assert list_all(make_actor(Role.EDITOR)) == [str(text.pk), str(draft.pk), str(public.pk)]


def test_mutations_of_an_image(gql: GraphQL, media: FolderStorage) -> None:
    assert media
    editor, image = make_actor(Role.EDITOR), make_ready_image()

    def mutate(name: str, kind: str, result: str, **values: Any) -> Any:
        query = f"mutation Change($input: {kind}!) {{ {name}(input: $input) {{ {result} }} }}"
        return gql(query, actor=editor, input={"id": str(image.pk), **values}).data[name]

    updated = mutate(
        "updateImage", "UpdateImageInput", "image { alt focalPoint { x } }", alt="Boat", focalPoint={"x": 0.1, "y": 0}
    )
    deleted = mutate("deleteImage", "DeleteImageInput", "deletedImageId", force=True)
    restored = mutate("restoreImage", "RestoreImageInput", "image { id status }")

    assert updated == {"image": {"alt": "Boat", "focalPoint": {"x": 0.1}}}
    assert deleted == {"deletedImageId": str(image.pk)}
    assert restored == {"image": {"id": str(image.pk), "status": "ready"}}


def test_file_that_is_no_image_is_an_unsupported_media_type(gql: GraphQL, media: FolderStorage) -> None:
    author, content = make_actor(Role.AUTHOR), b"<svg/>"
    create = """mutation ($input: CreateUploadInput!) { createUpload(input: $input)
        { id url method headers { name value } } }"""
    complete = "mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { image { id } } }"
    values = {"name": "a", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    refused = gql(create, actor=author, input={**values, "contentType": "image/svg+xml"})
    upload = gql(create, actor=author, input={**values, "contentType": "image/png"}).data["createUpload"]
    media.put(f"uploads/{upload['id']}", io.BytesIO(content))
    completed = gql(complete, actor=author, input={"id": upload["id"]})

    assert f"/uploads/{upload['id']}?signature=" in upload["url"]
    assert upload["method"] == "PUT"
    assert upload["headers"] == [
        {"name": "Content-Type", "value": "image/png"},
        {"name": "Content-Length", "value": str(len(content))},
    ]
    assert refused.codes == completed.codes == ["UNSUPPORTED_MEDIA_TYPE"]


def test_cover_is_set_kept_and_removed_through_posts_and_copies(gql: GraphQL) -> None:
    editor, image = make_actor(Role.EDITOR), make_ready_image(alt="Boat")
    author = make_author()
    create = """mutation Create($input: CreatePostInput!) { createPost(input: $input) { id cover { alt } } }"""
    update = """mutation Update($input: UpdatePostInput!) { updatePost(input: $input) { cover { alt } } }"""
    save = """mutation Save($input: SaveWorkingCopyInput!) { saveWorkingCopy(input: $input) {
        workingCopy { coverId coverAlt } } }"""
    values = {"title": "T", "body": "B", "authorId": str(author.pk), "coverId": str(image.pk), "status": "published"}

    post = gql(create, actor=editor, input=values).data["createPost"]
    changed = gql(update, actor=editor, input={"id": post["id"], "coverAlt": " Red "}).data["updatePost"]
    copied = gql(save, actor=editor, input={"postId": post["id"], "title": "New"}).data["saveWorkingCopy"]
    removed = gql(save, actor=editor, input={"postId": post["id"], "coverId": None}).data["saveWorkingCopy"]
    unknown = gql(update, actor=editor, input={"id": post["id"], "coverId": "999999"})

    assert (post["cover"], changed["cover"]) == ({"alt": "Boat"}, {"alt": "Red"})
    assert copied["workingCopy"] == {"coverId": str(image.pk), "coverAlt": "Red"}
    assert removed["workingCopy"] == {"coverId": None, "coverAlt": "Red"}
    assert unknown.body["errors"][0]["extensions"]["fields"] == {"coverId": ["There is no image with this id."]}
