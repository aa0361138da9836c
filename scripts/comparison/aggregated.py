"""What two builds make of the same uploads and the same spool: the service's answers, the storage's tables, published
databases, and what every command says of them."""
import glob
import gzip
import http.client
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import time

from . import modules, sessions, wire
from .findings import digest

LIMIT = 600  # seconds a command may take
IDLE = 1.5  # seconds after a server's start, in which it curates for the first time: nothing
UPLOADS = 24  # of each profile
TOKENS = [f"token-{number}" for number in range(8)]
SCENES = ["", "", "cave", "level one"]
# Random or of the clock, by table.
MASKED = {"origins": ["origin"], "coverage": ["time"], "quarantine": ["time"],
          "databases": ["etag", "previous_etag"], "bodies": ["etag", "d"], "claims": ["marks"]}
UNSTABLE = [(re.compile(rb"\b1[6-9]\d{8}\b|\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?\b"), b"TIME"),
            (re.compile(rb"ETag \w+"), b"ETag"), (re.compile(rb"\d+ MiB are free"), b"N MiB are free"),
            (re.compile(rb"\b\d+ bytes\b"), b"N bytes")]  # a compressed time may take a byte more
RANDOM = re.compile(rb"\b[0-9a-f]{32}\b|\"[0-9a-f]{16,64}\"")


def masked(data):
    for pattern, text in UNSTABLE:
        data = pattern.sub(text, data)
    return data


def tables(path):
    """Name of each table to its rows, without what is random or of the clock."""
    out = {}
    with sqlite3.connect(path) as db:
        names = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        out["schema"] = repr(list(db.execute("SELECT sql FROM sqlite_master ORDER BY name"))).encode()
        for name in names:
            cursor = db.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in cursor.description]
            rows = [repr(["…" if column in MASKED.get(name, []) else value for column, value in zip(columns, row)])
                    for row in cursor]
            out[name] = "\n".join(sorted(rows)).encode()
        if "bodies" in names:
            bodies = {}
            for etag, data in db.execute("SELECT etag, d FROM bodies ORDER BY etag, part"):
                bodies[etag] = bodies.get(etag, b"") + data
            out["published databases"] = b"\n".join(sorted(database(body) for body in bodies.values()))
    db.close()
    return out


def database(body):
    """A published database without the time at which it was curated."""
    return wire.without(wire.decompress(body), wire.CURATED_AT)


class Server:
    """A build's `piecemeal serve`. Ends with the `with` that holds it."""

    def __init__(self, build, storage, tokens, environment):
        self.log = open(storage + ".log", "ab")
        self.process = subprocess.Popen(
            [os.path.join(build, "tools/piecemeal"), "serve", "--storage", storage, "--port", "0",
             "--curate-seconds", "86400", "--min-tokens", "3", "--token-file", tokens, "--dashboard-token-file", tokens,
             "--log-level", "debug"],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment)
        self.port = int(self.process.stdout.readline().split()[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LIMIT)
        self.process.stdout.close()
        self.log.close()

    def send(self, path, method="GET", body=None, token=TOKENS[0]):
        """Status, entity headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path, body, {"Authorization": "Bearer " + token})
        response = connection.getresponse()
        answer = response.status, response.headers.get("Content-Type"), response.read()
        connection.close()
        return answer


def canned(profiles):
    """Uploads: token and body. Some come twice, some are damaged; always the same ones."""
    chance = random.Random("uploads")
    for number, profile in enumerate(profiles):
        for turn in range(UPLOADS):
            upload_id = digest(b"%d %d" % (number, turn)).encode()[:16]
            made = wire.varied(profile, upload_id, SCENES[turn % len(SCENES)], chance)
            body = wire.compress(made)
            yield TOKENS[turn % len(TOKENS)], body
            if turn % 7 == 0:
                yield TOKENS[turn % len(TOKENS)], body
            if turn % 9 == 0:
                yield TOKENS[0], body[:len(body) // 2]
                yield TOKENS[0], wire.compress(made[:len(made) // 2])
                yield TOKENS[0], wire.compress(made + wire.bytes_field(99, b"?"))
                yield "nobody", body


PAGES = ["/", "/healthz", "/v1/openapi.json", "/v1/games?limit=500", "/v1/quarantine", "/v1/nothing"]
GAME_PAGES = ["", "/database", "/database/previous", "/coverage", "/candidates", "/shaders?limit=500",
              "/database?scene=cave"]


def asked(server):
    """Path to answer, of every page of the service."""
    out = {}
    until = time.monotonic() + LIMIT
    while not all(game["summarized"] for game in json.loads(server.send("/v1/games?limit=500")[2])["games"]):
        if time.monotonic() > until:
            raise AssertionError("a game was never curated")
        time.sleep(0.1)

    def ask(path):
        status, kind, body = server.send(path)
        if kind and "json" not in kind and path.endswith(("/database", "/previous", "=cave")) and status == 200:
            body = database(body)
        out["GET " + path] = b"%d %b\n%b" % (status, str(kind).encode(), RANDOM.sub(b"RANDOM", masked(body)))
        return body

    for path in PAGES:
        ask(path)
    for game in json.loads(server.send("/v1/games?limit=500")[2])["games"]:
        base = "/v1/games/" + game["name"]
        for path in GAME_PAGES:
            ask(base + path)
        listed = json.loads(server.send(base + "/shaders?limit=500")[2])
        for key in sorted({shader["key"] for shader in listed.get("shaders", [])}):
            found = ask(f"{base}/shaders/{key}")
            for profile in json.loads(found).get("profiles", []):
                if isinstance(profile, dict) and "id" in profile:
                    ask(f"{base}/shaders/{key}/{profile['id']}")
    # Numbers of metrics are of this process; what there is to measure is not.
    out["GET /metrics"] = re.sub(rb" [0-9.e+-]+$", b" N", server.send("/metrics")[2], flags=re.MULTILINE)
    status = server.send("/v1/status")[2]
    out["GET /v1/status"] = re.sub(rb":\s*-?[0-9.]+", b": N", RANDOM.sub(b"RANDOM", masked(status)))
    return out


def commands(build, storage, store, folder, environment):
    """Name to what every command says of a storage, or makes of it."""
    piecemeal = os.path.join(build, "tools/piecemeal")
    out = {}

    def command(name, *arguments, made=None):
        done = subprocess.run([piecemeal, *arguments], env=environment, capture_output=True, timeout=LIMIT, check=False)
        data = b"%d\n%b\n%b" % (done.returncode, done.stdout, done.stderr)
        if made and os.path.exists(made):
            content = modules.read(made)
            if content.startswith(b"\x1f\x8b"):  # pprof
                content = wire.without(gzip.decompress(content), wire.PPROF_TIME)
            data += content
        out[name] = RANDOM.sub(b"RANDOM", masked(data.replace(folder.encode(), b"FOLDER")))

    with sqlite3.connect(storage) as db:
        games = [name for name, in db.execute("SELECT name FROM games ORDER BY name")]
    db.close()
    command("serve --check", "serve", "--check", "--storage", storage)
    for game in games:
        of_game = ["--storage", storage, "--game", game]
        for options in ([], ["--points"], ["--json"], ["--scene", "cave", "--points"]):
            command(f"db show {' '.join(options)} of {game}", "db", "show", *of_game, *options)
        for form in ("json", "csv", "llvm", "pprof", "collapsed"):
            made = os.path.join(folder, "export." + form)
            command(f"db export {form} of {game}", "db", "export", "--format", form, "-o", made, *of_game, made=made)
        page = os.path.join(folder, "report.html")
        command(f"report of {game}", "report", "-o", page, *of_game, *(["--store", store] if store else []), made=page)
        exported = os.path.join(folder, "export.piecemeal")
        imported = os.path.join(folder, "imported.sqlite")
        command(f"db export piecemeal of {game}", "db", "export", "--format", "piecemeal", "-o", exported, *of_game)
        command(f"db import of {game}", "db", "import", exported, "--storage", imported)
    if games:
        command("db curate of what was imported", "db", "curate", "--storage", imported, "--dev")
        for name, rows in tables(imported).items():
            out[f"imported, {name}"] = rows
        command(f"db drop {games[0]}", "db", "drop", "--game", games[0], "--yes", "--storage", imported)
        for name, rows in tables(imported).items():
            out[f"dropped, {name}"] = rows
    return out


def serve(build, uploads, store, folder):
    """Everything that comes of the uploads: name to bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = sessions.home_environment(os.path.join(folder, "home"))
    storage, tokens = os.path.join(folder, "storage.sqlite"), os.path.join(folder, "tokens")
    modules.write(tokens, "\n".join(TOKENS) + "\n")
    os.chmod(tokens, 0o600)
    out = {}
    with Server(build, storage, tokens, environment) as server:
        time.sleep(IDLE)
        answers = [server.send("/v1/uploads", "POST", body, token) for token, body in uploads]
    out["answers to uploads"] = "\n".join(repr(answer) for answer in answers).encode()
    for name, rows in tables(storage).items():
        out[f"uncurated, {name}"] = rows
    piecemeal = os.path.join(build, "tools/piecemeal")
    strict = os.path.join(folder, "strict.sqlite")
    subprocess.run([piecemeal, "db", "backup", "--storage", storage, "-o", strict], env=environment, check=True,
                   capture_output=True, timeout=LIMIT)
    for path, options in ((storage, ["--dev"]), (strict, [])):
        done = subprocess.run([piecemeal, "db", "curate", "--storage", path, *options], env=environment,
                              check=False, capture_output=True, timeout=LIMIT)
        name = os.path.basename(path)
        out[f"db curate of {name}"] = masked(b"%d\n%b\n%b" % (done.returncode, done.stdout, done.stderr))
        for table, rows in tables(path).items():
            out[f"{name}, {table}"] = rows
    out.update(commands(build, storage, store, folder, environment))
    with Server(build, storage, tokens, environment) as server:
        out.update(asked(server))
    log = masked(modules.read(storage + ".log")).replace(folder.encode(), b"FOLDER")
    out["log of serve"] = re.sub(rb"[0-9.]+ (ms|s)\b", rb"N \1", re.sub(rb"port \d+", b"port N", log))
    return out


def local(build, spool, store, folder):
    """What comes of a spool on one machine: name to bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = sessions.home_environment(folder)
    data = os.path.join(folder, "data/piecemeal")
    shutil.copytree(spool, os.path.join(data, "local/spool"))
    shutil.copytree(spool, os.path.join(data, "spool"))
    piecemeal = os.path.join(build, "tools/piecemeal")
    out = {}
    for arguments in (["sync", "--dry-run"], ["run", "--local", "--", "true"], ["db", "show", "--json"]):
        name = " ".join(arguments)
        done = subprocess.run([piecemeal, *arguments], env=environment, capture_output=True, timeout=LIMIT, check=False)
        out[name] = masked(b"%d\n%b\n%b" % (done.returncode, done.stdout, done.stderr)).replace(folder.encode(), b"F")
    storage = os.path.join(data, "local/aggregator.sqlite")
    for name, rows in tables(storage).items():
        out[f"local, {name}"] = rows
    for path in sorted(glob.glob(os.path.join(data, "local/databases/*.pmdb"))):
        out[f"local, {os.path.basename(path)}"] = database(modules.read(path))
    out["uploads of the same spool"] = b"\n".join(sorted(sessions.uploads(build, folder)))
    page = os.path.join(folder, "report.html")
    subprocess.run([piecemeal, "report", "-o", page, "--store", store], env=environment, capture_output=True,
                   timeout=LIMIT, check=False)
    if os.path.exists(page):
        out["report"] = masked(modules.read(page)).replace(folder.encode(), b"F")
    return out


def compare_all(place, findings, before, after):
    for what in sorted(set(before) | set(after)):
        kind = ("published databases" if what.endswith((".pmdb", "published databases")) else
                "answers of the service" if what.startswith(("GET ", "answers ")) else
                "uploads of the same spool" if what.startswith("uploads ") else
                "tables" if ", " in what else "commands")
        findings.same(f"{place[0]}: {kind}", f"{', '.join(place)}, {what}", before.get(what, b"missing"),
                      after.get(what, b"missing"))


def compare(before, after, work, findings, say):
    """After sessions.compare: what its sessions left in work is the material."""
    homes = sorted(path for path in glob.glob(os.path.join(work, "*/before")) if glob.glob(path + "/spooled/*.pmspool"))
    profiles = []
    for home in homes:
        say(f"spool of {os.path.basename(os.path.dirname(home))}")
        spool, store = os.path.join(home, "spooled"), os.path.join(home, "data/piecemeal/shaders")
        sides = [local(build, spool, store, os.path.join(work, "local-" + side))
                 for build, side in ((before, "before"), (after, "after"))]
        compare_all(["local", os.path.basename(os.path.dirname(home))], findings, *sides)
        profiles += [modules.read(path) for path in sorted(glob.glob(os.path.join(home, "sent/*")))]
    uploads = list(canned(profiles))
    say(f"{len(uploads)} uploads")
    store = os.path.join(homes[0], "data/piecemeal/shaders")
    sides = [serve(build, uploads, store, os.path.join(work, "serve-" + side))
             for build, side in ((before, "before"), (after, "after"))]
    compare_all(["aggregator"], findings, *sides)
    findings.count("aggregator: uploads", sum(len(body) for _, body in uploads), len(uploads))
