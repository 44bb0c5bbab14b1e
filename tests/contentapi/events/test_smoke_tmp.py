import json
import pytest
from django.test import Client
from contentapi.core.identity import Role
from tests.event_log import collect_events, describe, relay
from tests.factories import *
from blog import services
pytestmark = pytest.mark.django_db

def test_it(gql):
    actor = make_actor(Role.ADMIN)
    with collect_events() as events:
        post = services.create_post(actor=actor, title="A", body="b")
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"title": "B"})
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": "published"})
        c = services.add_comment(actor=actor, post_id=str(post.pk), body="hm")
        order = make_order(user_id=actor.user_id)
        make_image()
    print(describe(events), [e.changes for e in events], [e.actor_id for e in events])
    r = Client().get("/events?limit=100")
    print(r.status_code, r.content.decode())
    query = '{ events(first: 3) { nextCursor pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { __typename position type timestamp subject version was now changes actorId ... on PostEvent { post { title author { name } } } ... on CommentEvent { comment { body } } ... on OrderEvent { order { total } } } } } }'
    r = gql(query)
    print(json.dumps(r.body, indent=1))
    r = gql(query.replace("first: 3", "first: 50"), actor=actor)
    print(json.dumps(r.body, indent=1))
    assert 0
