"""A `piecemeal serve` of its own for a test, and requests to it. Standard library only."""
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds; a busy machine may take many times what an idle one takes


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.type = response.headers.get("Content-Type")

    def json(self):
        return json.loads(self.body)


class Server:
    """Ends with the `with` that holds it."""

    def __init__(self, piecemeal, storage, *options, dev=True):
        self.process = subprocess.Popen(
            [piecemeal, "serve", "--storage", storage, "--port", "0", "--log-level", "warning",
             *(["--dev"] if dev else []), *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"port (\d+)", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"the server did not start: {line!r}")
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.terminate()
        self.process.stdout.close()
        status = self.process.wait(PATIENCE)
        if status != 0:
            raise AssertionError(f"the server ended with {status}")

    def send(self, path, method="GET", body=None, token=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, body, headers)
        reply = Reply(connection.getresponse())
        connection.close()
        return reply

    def wait_for_games(self, token=None):
        """Until every game was curated once, and the API knows all of it."""
        until = time.monotonic() + PATIENCE
        while not all(game["summarized"] for game in self.send("/v1/games?limit=500", token=token).json()["games"]):
            if time.monotonic() > until:
                raise AssertionError("a game was never curated")
            time.sleep(0.05)

    def wait(self, path, token=None):
        """Asks until it is no longer told to ask again."""
        until = time.monotonic() + PATIENCE
        while True:
            reply = self.send(path, token=token)
            if reply.status != 503 or time.monotonic() > until:
                return reply
            time.sleep(0.05)


class Work:
    """A folder with a filled storage, which goes away."""

    def __init__(self, fill, points, uploads):
        self.folder = tempfile.mkdtemp(prefix="pm-served-", dir=os.environ.get("TMPDIR"))
        self.storage = os.path.join(self.folder, "storage.sqlite")
        self.upload = os.path.join(self.folder, "upload")
        subprocess.run([fill, self.storage, str(points), str(uploads), self.upload], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path
