"""Own fields and own types, in a project whose SDL declares some: `cases` are tests that run with its settings, in a
process of their own. `python -m pytest tests/own/test_project.py` runs all of them.
"""
