"""The process that serves HTTP: ``python -m distsearch.server.http.process SOCKET SETTINGS``, both descriptors.

It ends once its stdin does, which rank 0 holds: so it outlives rank 0 by nothing, however that ends.
"""

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import sys

import uvicorn

from ..request_log import RequestLog
from .app import Api, Settings
from .limits import HttpLimits

_BACKLOG = 128  # connections that wait to be accepted
_ACCEPTED_A_TURN = 2  # of the event loop, so that a flood of connections does not hold up those that are there
_FAREWELL = 2  # seconds for responses that are being written


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_BACKLOG)  # asyncio takes one number for both
        asyncio.get_running_loop().add_reader(0, self._on_stdin)

    def _on_stdin(self):
        if not os.read(0, 1 << 10):
            asyncio.get_running_loop().remove_reader(0)
            self.should_exit = True


def main() -> None:
    """Serve until stdin has ended."""
    for number in (signal.SIGINT, signal.SIGTERM):  # rank 0 decides when to end
        signal.signal(number, signal.SIG_IGN)
    with open(int(sys.argv[2]), encoding="utf-8") as file:
        content = json.load(file)
    log = RequestLog() if content.pop("logs") else None
    settings = Settings(**{**content, "limits": HttpLimits(**content["limits"])})
    for name in ("uvicorn.error", "asyncio"):  # a warning a malformed request, or a client that left, would be a flood
        logging.getLogger(name).setLevel(logging.ERROR)
    api = Api(settings, log)
    gc.freeze()
    listener = socket.socket(fileno=int(sys.argv[1]))
    asyncio.run(_serve(api, listener))
    if log is not None:
        log.close()


async def _serve(api, listener):
    config = uvicorn.Config(
        api.application,
        http=api.connections.protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # anyone may write them
        server_header=False,
        backlog=_ACCEPTED_A_TURN,
        timeout_keep_alive=int(api.connections.patience),
        timeout_graceful_shutdown=_FAREWELL,
    )
    sweep = asyncio.create_task(api.connections.sweep())
    await _Server(config).serve([listener])
    sweep.cancel()


if __name__ == "__main__":
    main()
