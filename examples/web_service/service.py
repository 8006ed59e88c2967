#!/usr/bin/env python3
"""The web service of this example: exchange rates that never change, on port 18099."""

import http.server
import json
import urllib.parse

RATES = {("USD", "EUR"): 0.5, ("GBP", "EUR"): 1.25}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        rate = RATES.get((query.get("from"), query.get("to")))
        body = json.dumps({"rate": rate} if rate else {"error": "no such rate"}).encode()
        self.send_response(200 if rate else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_port = True  # several may run at the same time


if __name__ == "__main__":
    Server(("127.0.0.1", 18099), Handler).serve_forever()
