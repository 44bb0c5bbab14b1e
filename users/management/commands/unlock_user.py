from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Unlock a user: password and API keys work again, and so do tokens that have not expired. Sessions do not. "
        "Unlocking a user who is not locked changes nothing."
    )
    service = staticmethod(services.unlock_user)
    result = "is not locked."
