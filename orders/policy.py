"""The rules for orders."""

from functools import partial

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import build_events_in_reach, build_rows_in_reach, reaches_everybody, reaches_owner

ORDER_EVENTS = partial(build_events_in_reach, scope=Scope.ORDERS_READ)
visible_orders = partial(build_rows_in_reach, scope=Scope.ORDERS_READ, column="user")
writable_orders = partial(build_rows_in_reach, scope=Scope.ORDERS_WRITE, column="user")
may_see_order = partial(reaches_owner, scope=Scope.ORDERS_READ)
may_read_orders = partial(Actor.has, scope=Scope.ORDERS_READ)  # perhaps only own ones: no empty list hides a refusal
may_list_all_orders = partial(reaches_everybody, scope=Scope.ORDERS_READ)
may_write_orders = partial(Actor.has, scope=Scope.ORDERS_WRITE)  # perhaps only own ones
may_write_orders_of = partial(reaches_owner, scope=Scope.ORDERS_WRITE)  # create, pay and cancel orders of this user
may_ship_orders = partial(reaches_everybody, scope=Scope.ORDERS_WRITE)  # and deliver them
