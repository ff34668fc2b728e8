"""A cheap client: one thread drives many keep-alive connections, since it shares the processors with the server."""

import selectors
import socket
import time
from collections.abc import Iterable
from typing import Protocol

ARRIVAL_S = 0.005  # from one caller's arrival to the next one's


class Caller(Protocol):
    """What one connection says. `body` is of the reply to the request before."""

    def first(self) -> bytes: ...

    def following(self, body: bytes) -> bytes: ...


class Failed(Exception):
    """A reply that is not 200."""


def post(path: str, body: bytes, token: str) -> bytes:
    """A request as it goes over the wire."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def drive(port: int, callers: Iterable[Caller], *, seconds: float) -> list[float]:
    """Let all callers call at once, each as soon as it has its reply; the time in seconds of every call.

    They arrive one after the other and are at work at once. Connections that are opened together tend to end up with
    one process of the server, whichever wakes first, while the others idle. First calls don't count.
    """
    selector = selectors.DefaultSelector()
    connections = []
    times: list[float] = []
    try:
        for caller in callers:
            connections.append(_Connection(port, caller))
            connections[-1].call(caller.first())
            selector.register(connections[-1].socket, selectors.EVENT_READ, connections[-1])
            time.sleep(ARRIVAL_S)
        end = time.perf_counter() + seconds
        waiting = len(connections)
        while waiting:
            for key, _ in selector.select(30):
                connection = key.data
                body = connection.receive()
                if body is None:
                    continue
                now = time.perf_counter()
                if connection.calls > 1:
                    times.append(now - connection.sent)
                if now < end:
                    connection.call(connection.caller.following(body))
                else:
                    waiting -= 1
    finally:
        for connection in connections:
            connection.socket.close()
        selector.close()
    return times


class _Connection:
    """One connection and the reply that is coming in on it."""

    def __init__(self, port: int, caller: Caller):
        self.caller, self.sent, self.calls = caller, 0.0, 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received, self._expected = b"", 0

    def call(self, request: bytes) -> None:
        self._received, self._expected = b"", 0
        self.sent, self.calls = time.perf_counter(), self.calls + 1
        self.socket.sendall(request)

    def receive(self) -> bytes | None:
        """The body, once all of it is here."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise Failed("the server closed the connection")
        self._received += part
        if not self._expected:
            head, found, _ = self._received.partition(b"\r\n\r\n")
            if not found:
                return None
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            self._expected = len(head) + 4 + int(length.partition(b":")[2])
        if len(self._received) < self._expected:
            return None
        head, _, body = self._received.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise Failed(self._received.decode(errors="replace"))
        return body
