"""Actions on logins, users and passwords, each with its event of the audit log."""

from django.test import Client
from django.urls import reverse
from msgspec import structs

from contentapi.conf import conf
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.factories import make_user
from tests.users.mails import FORGOTTEN, NEW, turn_mail_on
from tests.users.oauth.flow import PASSWORD, make_member
from users.audit import Audit
from users.mail import build_link

# --- Login ---------------------------------------------------------------------------------------------


def log_in(path: str, password: str, email: str = "") -> Action:
    user = make_member("admin")
    form = {"username": email or user.email, "password": password}
    return lambda: Client().post(path, form)


@causes(Audit.LOGIN_SUCCEEDED, "admin")
def log_in_to_the_admin(_: Scene) -> Action:
    return log_in("/admin/login/", PASSWORD)


@causes(Audit.LOGIN_SUCCEEDED, "OAuth")
def log_in_at_the_oauth_page(_: Scene) -> Action:
    return log_in("/oauth/login", PASSWORD)


@causes(Audit.LOGIN_FAILED, "admin")
def send_a_wrong_password(_: Scene) -> Action:
    return log_in("/admin/login/", "wrong")


@causes(Audit.LOGIN_FAILED, "OAuth")
def send_an_unknown_name(_: Scene) -> Action:
    return log_in("/oauth/login", PASSWORD, "nobody@example.invalid")


@causes(Audit.LOGIN_FAILED, "admin")
def log_in_to_the_admin_as_a_reader(_: Scene) -> Action:
    reader = make_member("reader")
    return log_in("/admin/login/", PASSWORD, reader.email)


@causes(Audit.LOGIN_FAILED, "admin")
def log_in_over_the_limit(scene: Scene) -> Action:
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, contentapi_rate_login="1/minute")
    user = make_member("admin")
    Client().post("/admin/login/", {"username": user.email, "password": "wrong"})
    return lambda: Client().post("/admin/login/", {"username": user.email, "password": PASSWORD})


@causes(Audit.LOGOUT, "admin")
def log_out_of_the_admin(scene: Scene) -> Action:
    return lambda: scene.browser.post(reverse("admin:logout"))


@causes(Audit.LOGOUT, "OAuth")
def log_out_at_the_oauth_page(scene: Scene) -> Action:
    return lambda: scene.browser.post("/oauth/logout")


# --- Users ---------------------------------------------------------------------------------------------


@causes(Audit.USER_CREATED, "REST")
def create_a_user_by_rest(scene: Scene) -> Action:
    return lambda: scene.request("POST", "/users", {"name": "New", "email": "new@example.invalid"})


@causes(Audit.USER_CREATED, "command line")
def create_a_user_by_command(scene: Scene) -> Action:
    return lambda: scene.command("create_user", "new@example.invalid", "--name", "New")


@causes(Audit.USER_CREATED, "command line")
def create_a_superuser(scene: Scene) -> Action:
    return lambda: scene.command("createsuperuser", "--noinput", "--email=new@example.invalid", "--name=New")


@causes(Audit.USER_CHANGED, "admin")
def rename_a_user(scene: Scene) -> Action:
    user = make_user()
    return lambda: scene.submit("users_user_change", user.pk, name="Other", email="other@example.invalid")


@causes(Audit.USER_ROLE_CHANGED, "admin")
def change_a_role(scene: Scene) -> Action:
    user = make_user()
    return lambda: scene.submit("users_user_change", user.pk, role="editor")


@causes(Audit.USER_LOCKED, "admin")
def lock_a_user(scene: Scene) -> Action:
    user = make_user()
    return lambda: scene.press("users_user", user.pk, "lock")


@causes(Audit.USER_UNLOCKED, "admin")
def unlock_a_user(scene: Scene) -> Action:
    user = make_user(is_active=False)
    return lambda: scene.press("users_user", user.pk, "unlock")


@causes(Audit.USER_PASSWORD_CHANGED, "admin")
def set_the_password_of_a_user(scene: Scene) -> Action:
    user = make_user()
    values = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    return lambda: scene.submit("auth_user_password_change", user.pk, **values)


@causes(Audit.USER_PASSWORD_CHANGED, "admin")
def change_the_own_password(_: Scene) -> Action:
    user = make_member("admin")
    browser = Client()
    browser.force_login(user)
    new = f"{PASSWORD}, changed"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    return lambda: browser.post(reverse("admin:password_change"), form)


@causes(Audit.USER_PASSWORD_CHANGED, "admin")
def choose_a_password_at_a_link(scene: Scene) -> Action:
    user, browser = make_member(), Client()
    turn_mail_on(scene.settings)
    page = browser.get(build_link(user).removeprefix(conf.origin))["Location"]
    return lambda: browser.post(page, {"new_password1": NEW, "new_password2": NEW})


@causes(Audit.USER_LINK_REQUESTED, "admin")
def ask_for_a_link(scene: Scene) -> Action:
    user = make_user(password="!")
    turn_mail_on(scene.settings)
    return lambda: Client().post(FORGOTTEN, {"email": user.email})


@causes(Audit.USER_INVITED, "admin")
def invite_a_user(scene: Scene) -> Action:
    user = make_user(password="!")
    turn_mail_on(scene.settings)
    return lambda: scene.press("users_user", user.pk, "invite")


@causes(Audit.USER_DELETED, "REST")
def delete_a_user_by_rest(scene: Scene) -> Action:
    user = make_user()
    return lambda: scene.request("DELETE", f"/users/{user.pk}")
