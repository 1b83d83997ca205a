"""HTTP API and web page to explore a collection; requires the extra ``web``."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.web._app import check_installed as check_installed, create_app as create_app
    from textkin.web._demo import demo_index as demo_index
    from textkin.web._limits import LOOPBACK as LOOPBACK, Limits as Limits, Settings as Settings
    from textkin.web._serving import listen as listen, serve as serve
    from textkin.web._signals import handle_signals as handle_signals
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_app": ["create_app", "check_installed"],
            "_demo": ["demo_index"],
            "_limits": ["LOOPBACK", "Limits", "Settings"],
            "_serving": ["listen", "serve"],
            "_signals": ["handle_signals"],
        },
    )

__all__ = [
    "LOOPBACK",
    "Limits",
    "Settings",
    "check_installed",
    "create_app",
    "demo_index",
    "handle_signals",
    "listen",
    "serve",
]
