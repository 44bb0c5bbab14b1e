from typing import Any

from django.core.management.base import CommandError, CommandParser

from contentapi.auth.people import get_user_by_email
from contentapi.core.errors import NotFound
from contentapi.core.identity import OPERATOR, Role
from users import services
from users.management.descriptions import UserActCommand, describe_user
from users.management.passwords import add_password_argument, prompt_for_password, read_password


class Command(UserActCommand):
    help = (
        "Create an admin, as for the first start in production, and print the id. The command prompts for the password "
        "in a terminal; with --password-stdin it reads standard input."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", required=True)
        add_password_argument(parser)

    def handle(self, *, email: str, as_json: bool, **options: Any) -> None:
        reject_existing_user(email.strip())
        password = read_password() if options["password_stdin"] else prompt_for_password()
        user = services.create_user(
            actor=OPERATOR, email=email, name=options["name"], role=Role.ADMIN, password=password
        )
        if as_json:
            self.print_object(describe_user(user), "", as_json=True)
        else:
            self.stdout.write(str(user.pk))


def reject_existing_user(email: str) -> None:
    try:
        user = get_user_by_email(email)
    except NotFound:
        return
    message = f"There is already a user with the email {user.email} and the role {user.role}."
    raise CommandError(f"{message} `set_role {user.email} admin` makes this user an admin.")
