#!/usr/bin/env python3
"""test_postgres.py PIECEMEAL FILL: two `piecemeal serve` on one PostgreSQL (with_postgres.sh), as players and operators
meet them: a retry to another server, the engine away and back, games that move from a file and into one, exactly, and
what the engine's own backups restore."""
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from served import PATIENCE, Server, Work  # noqa: E402

ENGINE = os.environ["PM_TEST_STORAGE"]


def check(fine, what):
    if not fine:
        raise AssertionError(what)


def say(sql, url=ENGINE):
    """To another database than the servers', unless told otherwise: that one is sent away."""
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", sql, url], check=True, stdout=subprocess.DEVNULL)


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done.stdout


def statistics(path):
    with sqlite3.connect(path) as file:
        return file.execute("SELECT * FROM statistics ORDER BY 1, 2, 3, 4, 5, 6, 7").fetchall()


def sums(piecemeal, url, path):
    """All statistics of the game "Watch"."""
    run(piecemeal, "db", "export", "--storage", url, "--game", "Watch", "--format", "piecemeal", "-o", path)
    return statistics(path)


def published(server):
    """The database of the game "Watch", which is there soon after it was curated."""
    reply = server.wait("/v1/games/Watch/database")
    check(reply.status == 200, f"it is published: {reply.status}")
    return reply.body


def check_restored(piecemeal, url, restored, database, body, work, how):
    """It is the storage that was backed up: whole, with the same sums and the same database published, and it knows the
    uploads that were taken."""
    whole = run(piecemeal, "serve", "--storage", restored, "--check", "--port", "0")
    check("Watch" in whole, f"what {how} restores is whole: {whole}")
    there, here = (sums(piecemeal, of, os.path.join(work.folder, f"{how}-{i}.sqlite"))
                   for i, of in enumerate((url, restored)))
    check(len(there) > 10 and here == there, f"every sum is in what {how} restores")
    with Server(piecemeal, restored) as server:
        check(published(server) == database, f"what was published is in what {how} restores")
        reply = server.send("/v1/uploads", "POST", body)
        check(reply.status == 200, f"an upload is known in what {how} restores: {reply.status} {reply.body}")


@contextlib.contextmanager
def copied_engine(url):
    """Another engine, started on a copy of the first one's folder; its URL."""
    programs = run("pg_config", "--bindir").strip()
    folder = os.path.join(os.environ["PM_TEST_ENGINE"], "copied")
    other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
    run(*other, f"{programs}/pg_basebackup", "-d", url, "-D", f"{folder}/data", "-X", "stream", "-c", "fast", "--no-sync")
    log = tempfile.TemporaryFile("w+")
    engine = subprocess.Popen([*other, f"{programs}/postgres", "-D", f"{folder}/data", "-k", folder, "-c",
                               "listen_addresses=", "-c", "max_prepared_transactions=10"], stdout=log, stderr=log)
    try:
        until = time.monotonic() + PATIENCE
        while subprocess.run([f"{programs}/pg_isready", "-q", "-h", folder]).returncode != 0:
            if engine.poll() is not None or time.monotonic() > until:
                log.seek(0)
                raise AssertionError(f"the copied engine does not start: {log.read()}")
            time.sleep(0.1)
        yield url.replace(os.environ["PM_TEST_ENGINE"], folder)
    finally:
        engine.send_signal(signal.SIGINT)
        engine.wait(PATIENCE)
        log.close()


def check_backups(piecemeal, url, body, work):
    """docs/operating.md: by pg_dump, or by pg_basebackup, while a server goes on."""
    dump = os.path.join(work.folder, "dump")
    restored = url.replace("/served?", "/restored?")
    say("CREATE DATABASE restored")
    with Server(piecemeal, url) as server:
        server.wait_for_games()
        database = published(server)
        run("pg_dump", "-Fc", "-d", url, "-f", dump)
        run("pg_restore", "--exit-on-error", "-d", restored, dump)
        check_restored(piecemeal, url, restored, database, body, work, "pg_dump")
        if not os.environ.get("PM_TEST_TLS"):  # where nobody may copy it
            with copied_engine(url) as copied:
                check_restored(piecemeal, url, copied, database, body, work, "pg_basebackup")


def check_away(servers, body):
    say("ALTER DATABASE served ALLOW_CONNECTIONS false")
    say("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'served'")
    for server in servers:
        reply = server.send("/v1/uploads", "POST", body)
        check(reply.status == 429, f"the engine is away, and an upload gets {reply.status}: {reply.body}")
        check(int(reply.headers["Retry-After"]) > 0, "and is told when to come again")
        check(server.send("/healthz").status == 503, "a balancer hears of it")
    say("ALTER DATABASE served ALLOW_CONNECTIONS true")
    for server in servers:
        check(server.wait("/healthz").status == 200, "and hears that it is over, though nobody uploaded")


def check_start(piecemeal, url):
    """Who cannot store does not serve, and says why."""
    def start(where, **environment):
        done = subprocess.run([piecemeal, "serve", "--dev", "--port", "0", "--storage", where], capture_output=True,
                              text=True, timeout=60, env={**os.environ, **environment})
        check(done.returncode == 1, f"it should not start: {done.returncode} {done.stderr}")
        return done.stderr

    check("cannot be reached" in start(url.replace("host=", "host=/nowhere")), "the engine is away")
    say("UPDATE piecemeal_schema SET version = version + 1000", url)
    check("written by a newer Piecemeal" in start(url), "the tables are newer")
    say("UPDATE piecemeal_schema SET version = version - 1000", url)
    if os.environ.get("PM_TEST_TLS"):
        for what, said in (("no encryption", start(url.replace("verify-full", "disable"))),
                           ("does not match", start(url.replace("host=localhost", "host=127.0.0.1"))),
                           ("no password", start(url, PGPASSFILE="/nowhere"))):
            check(what in said, f"{what}: {said}")


def main(piecemeal, fill):
    url = ENGINE.replace(":///postgres?", ":///served?")
    say("CREATE DATABASE served")
    with Work(fill, 200, 30) as work:
        with open(work.upload, "rb") as file:
            body = file.read()
        with Server(piecemeal, url) as one, Server(piecemeal, url) as other:
            check_away((one, other), body)
            reply = one.send("/v1/uploads", "POST", body)
            check(reply.status == 204, f"an upload is taken when it is back: {reply.status} {reply.body}")
            check(other.send("/v1/uploads", "POST", body).status == 200, "the other server knows it")
            check(one.send("/v1/uploads", "POST", body).status == 200, "so does the first")
            other.wait_for_games()
            games = {game["name"]: game["uploads"] for game in other.send("/v1/games?limit=500").json()["games"]}
            check(games == {"Watch": 1}, f"it is counted once: {games}")
            check(other.send("/v1/games/Watch/database").status in (200, 404), "the other server answers for it")
        check_start(piecemeal, url)
        run(piecemeal, "db", "drop", "--storage", url, "--game", "Watch", "--yes")
        run(piecemeal, "db", "import", "--storage", url, work.storage)
        check("Watch" in run(piecemeal, "serve", "--storage", url, "--check", "--port", "0"), "it is checked")
        again = os.path.join(work.folder, "again.sqlite")
        before = [row for row in statistics(work.storage) if row[0] == "Watch"]
        check(len(before) > 10 and sums(piecemeal, url, again) == before, "every sum of the game came through")
        twice = subprocess.run([piecemeal, "db", "import", "--storage", url, again], capture_output=True, text=True)
        check(twice.returncode != 0 and "counted here already" in twice.stderr, f"not twice: {twice.stderr}")
        backup = subprocess.run([piecemeal, "db", "backup", "--storage", url, "-o", again + "2"], capture_output=True,
                                text=True)
        check(backup.returncode != 0 and "pg_dump" in backup.stderr, f"backups are the engine's: {backup.stderr}")
        check_backups(piecemeal, url, body, work)
    print("served")


main(*sys.argv[1:])
