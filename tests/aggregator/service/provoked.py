"""Brings about what goes wrong on a real server, and holds the answers against docs/openapi.json: too
many requests, a game that is not read yet, a full disk, a storage that is broken, a service that is
stopping."""
import contextlib
import os
import random
import re
import resource
import signal
import sqlite3
import threading
import time

from described import Asker, check
from served import PATIENCE, Server

UPLOADS = "/v1/uploads"
UNKNOWN = ("no such game", "0" * 48, "block-1")  # what the {} of a path become; no key of ours


def fresh(work, name):
    return os.path.join(work.folder, name + ".sqlite")


def names_of(path, game=UNKNOWN[0]):
    return (game, *UNKNOWN[1:])[:path.count("{")]


def promising(document, status):
    """The GET routes that may be answered so."""
    return [path for path, methods in document["paths"].items()
            if status in methods.get("get", {}).get("responses", {})]


def check_refusal(reply, field):
    """Of the field (None: of any), with a wait that a client can keep to where one is asked for."""
    check(field is None or reply.json().get("field") == field, f"{reply.status}: is not about {field}: {reply.body}")
    if reply.status == 429:
        check(1 <= int(reply.headers["Retry-After"]) <= 60, f"429: Retry-After is {reply.headers['Retry-After']}")


def wait_until(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"in vain: {what}")
        time.sleep(0.02)


@contextlib.contextmanager
def locked(storage):
    """As another process that writes for long. No longer than the server waits for it: ten seconds."""
    other = sqlite3.connect(storage, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def check_rates(document, piecemeal, work, body):
    tokens = work.write("tokens", "player\nfriend\n")
    options = ("--token-file", tokens, "--dashboard-token-file", tokens)
    with Server(piecemeal, fresh(work, "guesses"), *options, "--address-rate", "2") as server:
        asker = Asker(document, server, "a guess")
        for _ in range(2):
            asker.ask("/metrics", 401)
        for path in promising(document, "429"):
            check_refusal(asker.ask(path, 429, names_of(path)), "address")
        check_refusal(asker.ask(UPLOADS, 429, method="post", body=body), "address")
    with Server(piecemeal, fresh(work, "rates"), *options, "--token-rate", "1", "--address-rate", "3") as server:
        player, friend = Asker(document, server, "player"), Asker(document, server, "friend")
        player.ask(UPLOADS, 204, method="post", body=body)
        check_refusal(player.ask(UPLOADS, 429, method="post", body=body), "token")
        friend.ask(UPLOADS, 200, method="post", body=body)
        check_refusal(friend.ask(UPLOADS, 429, method="post", body=body), "address")


def check_overload(document, piecemeal, work):
    with Server(piecemeal, fresh(work, "memory"), "--memory-mib", "1") as server:
        noise = random.Random(1).randbytes(1 << 19)
        reply = Asker(document, server).ask(UPLOADS, 429, method="post", body=iter([noise] * 4))
        check_refusal(reply, "queue")


def ask_unread(document, piecemeal, storage, body, pause):
    """Who asks first waits for a curation, which waits for the storage. False: the curation that every start begins
    with took the game, too."""
    with Server(piecemeal, storage, "--curate-seconds", "86400") as server:
        time.sleep(pause)
        asker = Asker(document, server)
        asker.ask(UPLOADS, 204, method="post", body=body)
        with locked(storage):
            if server.send("/v1/games/Watch").status == 200:
                return False
            for path in promising(document, "503"):
                if path != "/healthz":
                    reply = asker.ask(path, 503, names_of(path, "Watch"))
                    check(1 <= int(reply.headers["Retry-After"]) <= 60, f"{path}: Retry-After")
        asker.ask("/v1/games/{game}", 200, ("Watch",))
        return True


def check_not_read_yet(document, piecemeal, work, body):
    check(any(ask_unread(document, piecemeal, fresh(work, f"unread-{i}"), body, 0.1 * 2**i) for i in range(10)),
          "every game was read before it was asked for")


def check_full(document, piecemeal, work, body):
    """A limit on file sizes stands for a full disk."""
    with Server(piecemeal, fresh(work, "full")) as server:
        asker = Asker(document, server)
        asker.ask("/healthz", 200)
        before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        check_refusal(asker.ask(UPLOADS, 507, method="post", body=body), "storage")
        asker.ask("/healthz", 503)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
        asker.ask(UPLOADS, 204, method="post", body=body)
        asker.ask("/healthz", 200)
    storage = fresh(work, "games")
    with Server(piecemeal, storage, "--max-games", "1") as server:
        with contextlib.closing(sqlite3.connect(storage)) as other, other:
            other.execute("INSERT INTO games (name, uploads) VALUES ('Clock', 1)")
        check_refusal(Asker(document, server).ask(UPLOADS, 507, method="post", body=body), "game")


def check_broken(document, piecemeal, work, body):
    """Tables that are gone stand for a file that cannot be read."""
    storage = fresh(work, "broken")
    with Server(piecemeal, storage) as server:
        asker = Asker(document, server)
        asker.ask("/v1/games", 200)
        with contextlib.closing(sqlite3.connect(storage)) as other:
            for table in ("games", "databases", "quarantine", "origins"):
                other.execute("DROP TABLE " + table)
            other.commit()
        for path in promising(document, "500"):
            asker.ask(path, 500, names_of(path))
        asker.ask(UPLOADS, 500, method="post", body=body)
        asker.ask("/healthz", 503)


def check_stopping(document, piecemeal, work, body):
    """While the last commit waits for the storage, those that still come are sent away."""
    storage = fresh(work, "stopping")
    server = Server(piecemeal, storage, "--curate-seconds", "86400")
    replies, threads = [], []

    def post():
        def run():
            with contextlib.suppress(OSError):
                replies.append(server.send(UPLOADS, "POST", body))
        threads.append(threading.Thread(target=run))
        threads[-1].start()

    def is_waiting():
        post()
        return float(re.search(r"^piecemeal_queue_depth (\S+)$", server.send("/metrics").body.decode(), re.M)[1]) > 0

    def is_refused():
        post()
        return any(reply.status == 503 for reply in replies)

    server.send("/healthz")
    with locked(storage):
        wait_until(is_waiting, "an upload that waits behind another")
        server.process.send_signal(signal.SIGTERM)
        wait_until(is_refused, "an upload that is sent away")
    for thread in threads:
        thread.join()
    for reply in replies:
        check_refusal(Asker(document, server).hold(UPLOADS, "post", reply, "while stopping"),
                      "service" if reply.status == 503 else None)
    server.end()


def check_failures(document, piecemeal, work):
    with open(work.upload, "rb") as file:
        body = file.read()
    check_rates(document, piecemeal, work, body)
    check_overload(document, piecemeal, work)
    check_not_read_yet(document, piecemeal, work, body)
    check_full(document, piecemeal, work, body)
    check_broken(document, piecemeal, work, body)
    check_stopping(document, piecemeal, work, body)
