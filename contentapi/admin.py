"""The pages of the admin site for webhooks, which register themselves."""

from contentapi.desk.webhooks.admin import WebhookAdmin

__all__ = ["WebhookAdmin"]
