"""What the kernel itself declares: webhooks, with their deliveries, and its jobs."""

from contentapi import background
from contentapi.declarations import App, Entry, Group, Type
from contentapi.events.webhooks import projections, resolvers, selectors, views

API = App(
    types=[
        Type(projections.WEBHOOK, node=selectors.select_webhook_node),
        Type(projections.DELIVERY, node=selectors.select_delivery_node),  # the last: it looks into all partitions
    ],
    projections=projections.PROJECTIONS,
    representations=views.REPRESENTATIONS,
    bindables=resolvers.BINDABLES,
    resources=views.RESOURCES,
    jobs=background.list_jobs,
    sidebar=[Entry("Webhooks", "webhook", "events.Webhook", Group.ADMINISTRATION)],
    links=["events"],
)
