from contentapi.events.webhooks import views

DELIVERY = "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>"
RESOURCES = {
    "webhooks": views.WebhookCollection,
    "webhooks/<str:webhook_id>": views.WebhookResource,
    "webhooks/<str:webhook_id>/deliveries": views.DeliveryCollection,
    DELIVERY: views.DeliveryResource,
    f"{DELIVERY}/redeliver": views.RedeliverResource,
    "webhooks/<str:webhook_id>/ping": views.PingResource,
    "webhooks/<str:webhook_id>/replay": views.ReplayResource,
    "webhooks/<str:webhook_id>/secrets": views.SecretCollection,
}
