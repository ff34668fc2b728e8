"""Who calls, what they may do, and how often.

`scopes` is the table of permissions; `keys` and `tokens` make and check credentials; `lookup` turns credentials into a
`Caller`; `quota` counts; `guard` puts it all in front of a view.
"""

from api.auth.guard import requires
from api.auth.lookup import Caller

__all__ = ["Caller", "requires"]
