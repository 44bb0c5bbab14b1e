"""What the kernel declares: events, webhooks with their deliveries, and the jobs that belong to no app."""

from contentapi.events import resolvers as event_resolvers
from contentapi.events import views as event_views
from contentapi.events.declarations import App, Entry, Group, Type
from contentapi.events.webhooks import projections, resolvers, selectors, views

API = App(
    types=[
        Type(projections.WEBHOOK, selectors.select_visible_webhooks),
        Type(projections.DELIVERY, selectors.select_visible_deliveries),  # the last: it looks into all partitions
    ],
    projections=projections.PROJECTIONS,
    representations=views.REPRESENTATIONS,
    bindables=[*event_resolvers.BINDABLES, *resolvers.BINDABLES],
    resources={**event_views.RESOURCES, **views.RESOURCES},
    jobs="contentapi.background",
    sidebar=[Entry("Webhooks", "webhook", "events.Webhook", Group.ADMINISTRATION)],
    links=["events"],
)
