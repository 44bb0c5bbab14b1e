"""The secrets of applications: how each is shown, stored and renewed."""

import re

from django.test import Client
from oauth2_provider.models import Application

from tests.admin_forms import open_form, submit_form
from tests.users.oauth.client_forms import change_application, submit_application
from tests.users.oauth.flow import CALLBACK, Browser, make_member
from tests.users.oauth.flow import Application as OAuthApplication
from users.oauth.clients import describe_state, register_client


def test_client_secret_is_stored_as_a_hash() -> None:
    client = register_client(name=" App ", redirect_uris=[CALLBACK, f"{CALLBACK}/2"])

    kept = Application.objects.get(client_id=client.client_id)
    assert kept.client_secret.startswith("argon2")
    assert (kept.name, kept.redirect_uris) == ("App", f"{CALLBACK} {CALLBACK}/2")
    assert (kept.client_type, kept.authorization_grant_type) == ("confidential", "authorization-code")
    assert not kept.skip_authorization


SECRET = re.compile(r'id="secret">([\w-]+)</code>')


def test_admin_page_shows_the_secret_once(admin_client: Client) -> None:
    page = submit_application(admin_client).content.decode()

    client = Application.objects.get()
    secret = SECRET.search(page)
    assert secret
    assert client.client_secret.startswith("argon2")
    changing = admin_client.get(f"/admin/oauth2_provider/application/{client.pk}/change/").content.decode()
    assert secret[1] not in changing
    assert client.client_secret not in changing


def test_client_made_public_exchanges_without_a_secret_and_back_with_a_new_one_only(admin_client: Client) -> None:
    application = OAuthApplication()
    client = Application.objects.get()
    browser = Browser(make_member())
    old = application.registered.secret
    assert application.exchange(browser.obtain_code(application)).status_code == 200

    public = change_application(admin_client, client, client_type="public")
    by_id = application.exchange(browser.obtain_code(application), secret="")
    confidential = change_application(admin_client, client, client_type="confidential")

    assert "shown this once" not in public.text
    assert by_id.status_code == 200
    found = SECRET.search(confidential.text)
    assert found
    assert "no-store" in confidential["Cache-Control"]
    code = browser.obtain_code(application)
    assert application.exchange(code, secret=old).status_code == 401
    assert application.exchange(browser.obtain_code(application), secret=found[1]).status_code == 200


def locate_secret_page(client: Application) -> str:
    return f"/admin/oauth2_provider/application/{client.pk}/act/renew-secret/"


def test_new_secret_is_shown_once_and_the_old_one_stops_at_once(admin_client: Client) -> None:
    application = OAuthApplication()
    client, browser, old = Application.objects.get(), Browser(make_member()), application.registered.secret
    page = locate_secret_page(client)
    change_page = admin_client.get(f"/admin/oauth2_provider/application/{client.pk}/change/")
    assert f'href="{page}"' in change_page.text

    shown = submit_form(admin_client, page)

    found = SECRET.search(shown.text)
    assert found
    assert f"“{client.name}” was given a new secret." in shown.text
    assert "no-store" in shown["Cache-Control"]
    assert application.exchange(browser.obtain_code(application), secret=old).status_code == 401
    assert application.exchange(browser.obtain_code(application), secret=found[1]).status_code == 200
    assert found[1] not in admin_client.get(page).text
    assert "Given a new secret" in admin_client.get(f"/admin/oauth2_provider/application/{client.pk}/history/").text


def test_new_secret_is_not_replaced_when_the_page_is_sent_again(admin_client: Client) -> None:
    application = OAuthApplication()
    client, browser = Application.objects.get(), Browser(make_member())
    page = locate_secret_page(client)
    form = open_form(admin_client, page)
    found = SECRET.search(admin_client.post(page, form).text)
    assert found

    again = admin_client.post(page, form, follow=True)

    assert SECRET.search(again.text) is None
    assert "This page has already created a secret" in again.text
    assert application.exchange(browser.obtain_code(application), secret=found[1]).status_code == 200


def test_public_client_has_no_button_for_a_secret(admin_client: Client) -> None:
    OAuthApplication(public=True)
    client = Application.objects.get()
    page = locate_secret_page(client)

    form = admin_client.get(f"/admin/oauth2_provider/application/{client.pk}/change/")
    opened = admin_client.get(page, follow=True)
    sent = admin_client.post(page, {"opened": describe_state(client)}, follow=True)

    assert page not in form.text
    assert "“New secret” is not possible for" in opened.text
    assert "A public application has no secret." in sent.text
    assert Application.objects.get().client_secret == client.client_secret
