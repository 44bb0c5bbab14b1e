"""Tests of webhooks, with real receivers."""
