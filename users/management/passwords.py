"""Passwords of the account commands: from standard input or from a terminal, as no list of processes shows them."""

import sys
from argparse import ArgumentParser
from getpass import getpass

from django.core.management.base import CommandError


def add_password_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--password-stdin", action="store_true", help="read the password from the first line of standard input"
    )


def read_password() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def prompt_for_password() -> str:
    """Read a password twice from the terminal. Raises `CommandError`."""
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to prompt for the password. Send it with --password-stdin.")
    password = getpass("Password: ")
    if getpass("Password (again): ") != password:
        raise CommandError("The passwords differ.")
    return password
