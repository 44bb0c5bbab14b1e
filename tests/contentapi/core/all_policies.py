"""The permission rules of the kernel and of all apps."""

from blog.policy import *  # noqa: F403
from contentapi.core.policy import *  # noqa: F403
from contentapi.schema import EVENT_TYPES
from orders.policy import *  # noqa: F403
from users.policy import *  # noqa: F403

visible_events = EVENT_TYPES.visible
