from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Lock a user: login, API keys and tokens are refused, sessions end, and what the user has scheduled is not "
        "published. Nothing is deleted. Locking a locked user "
        "changes nothing."
    )
    service = staticmethod(services.lock_user)
    result = "is locked."
