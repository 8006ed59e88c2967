"""A client of the DevTools protocol over a WebSocket, by the standard library alone.

    with DevTools("ws://127.0.0.1:8096/debugger/…") as client:
        client.call("Debugger.enable")
        paused = client.wait("Debugger.paused")
"""

import base64
import json
import os
import socket
import struct
import urllib.parse

TIMEOUT_S = 30


class Closed(Exception):
    """The server has closed the WebSocket; the code is that of its close frame, None without one."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code} {reason}")
        self.code = code


class WebSocket:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), TIMEOUT_S)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
                             "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ")[1])
        if self.status != 101:
            raise Closed(None, head.decode())

    def _receive(self):
        received = self.socket.recv(65536)
        if not received:
            raise Closed(None)
        self.buffer += received

    def _take(self, size):
        while len(self.buffer) < size:
            self._receive()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, payload, opcode=1):
        """One frame; text unless the opcode says otherwise."""
        payload = payload.encode() if isinstance(payload, str) else payload
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        self.socket.sendall(head + b"\0\0\0\0" + payload)  # a mask of zeroes

    def receive(self):
        """The next text. Raises Closed."""
        while True:
            first, second = self._take(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            payload = self._take(size)
            opcode = first & 15
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                self.send(payload, 8)
                raise Closed(code, payload[2:].decode(errors="replace"))
            if opcode == 9:
                self.send(payload, 10)
            if opcode == 1:
                return payload.decode()

    def close(self):
        self.socket.close()


class DevTools:
    def __init__(self, url):
        self.web_socket = WebSocket(url)
        self.ids = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.web_socket.close()

    def post(self, method, **parameters):
        """Sends a command and does not wait for its answer; returns its id."""
        self.ids += 1
        self.web_socket.send(json.dumps({"id": self.ids, "method": method, "params": parameters}))
        return self.ids

    def call(self, method, **parameters):
        """Sends a command and returns its result. Raises RuntimeError with the error's text."""
        wanted = self.post(method, **parameters)
        while True:
            message = json.loads(self.web_socket.receive())
            if message.get("id") == wanted:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def wait(self, method, seconds=TIMEOUT_S):
        """The parameters of the next event of that kind; those before it are dropped. Raises
        TimeoutError."""
        self.web_socket.socket.settimeout(seconds)
        try:
            return self._wait(method)
        finally:
            self.web_socket.socket.settimeout(TIMEOUT_S)

    def _wait(self, method):
        while True:
            message = self.events.pop(0) if self.events else json.loads(self.web_socket.receive())
            if message.get("method") == method:
                return message["params"]
