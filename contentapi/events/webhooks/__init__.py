"""Webhooks: the log of events, sent to addresses that admins name, as Standard Webhooks 1.0 describes.

`planning` makes a delivery of each event that a webhook wants and its maker may see. `sender` is the job that sends
them: it claims webhooks with a lease and records the results (`deliveries`, with the schedule of `retries`), reads the
bodies with the rights of the receiver and compiles what a webhook selects (`bodies`), and sends them in threads
(`sending`, within the rules of `addresses`). `signing` signs, `services`, `resending` and `selectors` manage webhooks.
"""
