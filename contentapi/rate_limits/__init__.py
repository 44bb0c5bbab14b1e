"""Rate limits: how much a credential or an address may request, and the headers that report the rest.

`limits` names the limits, `account` charges a request to them, `counters` counts in this process and `redis_windows` in
Redis, and `middleware` charges the requests that no endpoint charges.
"""
