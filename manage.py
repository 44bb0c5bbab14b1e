#!/usr/bin/env python
"""Run a management command. `python manage.py help` lists them."""

import sys

from contentapi.management.command_line import run_command

if __name__ == "__main__":
    run_command(sys.argv)
