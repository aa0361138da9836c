#!/bin/bash
# Usage: tls_server.sh FOLDER: makes FOLDER/tls/certificate.pem for localhost, prints the port on which it then serves
# HTTPS with it, and answers every request 404 until it is ended.
set -euo pipefail
mkdir -p "$1/tls"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$1/tls/key.pem" -out "$1/tls/certificate.pem" 2>/dev/null
exec python3 - "$1/tls" <<'PYTHON'
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)
    def log_message(self, *arguments):
        pass
class Server(http.server.HTTPServer):
    def handle_error(self, *arguments):
        pass  # clients that do not trust us hang up
server = Server(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/certificate.pem", sys.argv[1] + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
