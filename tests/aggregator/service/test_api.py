#!/usr/bin/env python3
"""Holds docs/openapi.json against the server: what is asked as the file says is answered as the file
says, in status, content type and every field of the body. test_routes.c holds the file's paths
against the server's.

    test_api.py PIECEMEAL FILL_STORAGE OPENAPI
"""
import json
import math
import os
import re
import sys
from urllib.parse import quote

from described import Asker, check, failures, seen
from provoked import check_failures
from served import Server, Work

HOSTILE = "a/b%2Fc?d=e#f &amp; g"  # a game that fill_storage makes

GAME = "/v1/games/{game}"
SHADER = GAME + "/shaders/{key}"


def check_lists(asker):
    """Every list: its pages put together are the whole, in the order that was asked for."""
    lists = [("/v1/games", (), "games"), ("/v1/quarantine", (), "entries"),
             (GAME + "/candidates", ("Watch",), "candidates"), (GAME + "/shaders", ("Watch",), "shaders")]
    for path, names, field in lists:
        whole = asker.ask(path, 200, names, "?limit=500").json()
        check(whole["total"] >= len(whole[field]) > 3, f"{path}: has {len(whole[field])} of {whole['total']}")
        parts = []
        for offset in range(0, 9, 3):
            parts += asker.ask(path, 200, names, f"?limit=3&offset={offset}").json()[field]
        check(parts == whole[field][:9], f"{path}: its pages are not its parts")
        beyond = asker.ask(path, 200, names, "?offset=4294967295").json()
        check(beyond[field] == [] and beyond["total"] == whole["total"], f"{path}: something is beyond its end")
        for query in ("?limit=0", "?limit=501", "?limit=x", "?limit=", "?limit=-1", "?limit=%zz", "?offset=4294967296"):
            reply = asker.ask(path, 400, names, query).json()
            check(reply.get("field") == query[1:].split("=")[0], f"{path}{query}: names {reply.get('field')}")


def check_left_out(asker):
    """What most sessions of fill_storage.c say, where they do: the hottest shaders have many."""
    path = GAME + "/shaders"
    hot = asker.ask(path, 200, ("Watch",), "?kind=zero&limit=20").json()["shaders"]
    known = [one for one in hot if one["left_out"] is not None]
    check(0 < len(known) < len(hot), f"{len(known)} of {len(hot)} say what is left out")
    check(all(one["left_out"] == 8 * one["points"] for one in known), "what is left out is not what most say")
    for kind in ("block", "timing"):
        there = asker.ask(path, 200, ("Watch",), f"?kind={kind}").json()["shaders"]
        check(all(one["left_out"] is None for one in there), f"a {kind} profile leaves something out")


def check_orders(asker):
    values = {"entry_lanes": lambda one: -one["entry_lanes"], "key": lambda one: one["key"],
              "points": lambda one: -one["points"], "calls": lambda one: -one["calls"],
              "points_missing": lambda one: one["points_covered"] - one["points"],
              "points_lacking": lambda one: -one["points_lacking"],
              "time": lambda one: one["time"]["high"] if one["time"] else math.inf}
    path = GAME + "/shaders"
    parameters = {one["name"]: one for one in asker.document["paths"][path]["get"]["parameters"]}
    for sort in parameters["sort"]["schema"]["enum"]:
        there = asker.ask(path, 200, ("Watch",), f"?limit=500&sort={sort}").json()["shaders"]
        check(there == sorted(there, key=values[sort]), f"shaders are not sorted by {sort}")
        back = asker.ask(path, 200, ("Watch",), f"?limit=500&order=reverse&sort={sort}").json()["shaders"]
        check(back == there[::-1], f"reversed shaders are not those by {sort}")
    for kind in ("block", "zero", "timing"):
        there = asker.ask(path, 200, ("Watch",), f"?kind={kind}").json()
        check(there["total"] > 0 and all(one["kind"] == kind for one in there["shaders"]), f"not only {kind}")
    key = there["shaders"][0]["key"]
    check_left_out(asker)
    found = asker.ask(path, 200, ("Watch",), f"?search={key[:20].upper()}").json()
    check(found["total"] >= 1 and all(one["key"] == key for one in found["shaders"]), "search by key")
    check(asker.ask(path, 200, ("Watch",), f"?search={key}0").json()["total"] == 0, "search beyond a key")
    check(asker.ask(path, 200, ("Watch",), "?search=%22%27--").json()["total"] == 0, "search for no key")
    check(asker.ask(path, 400, ("Watch",), "?sort=heat").json()["field"] == "sort", "an unknown order")
    games = asker.ask("/v1/games", 200, query="?sort=uploads").json()["games"]
    check(games[0]["name"] == "Watch", "the game with most uploads is first")
    found = asker.ask("/v1/games", 200, query="?search=" + quote("<IMG", safe="")).json()["games"]
    check([game["name"] for game in found] == ["<img src=x onerror=alert(1)>"], "search by name")
    candidates = asker.ask(GAME + "/candidates", 200, ("Watch",)).json()["candidates"]
    worth = [(one["zeros_low"], one["zeros"]) for one in candidates]
    check(worth == sorted(worth, reverse=True) and candidates[-1]["zeros"] > 0, "candidates are not sorted by their worth")
    for one in candidates:
        check(one["zeros_low"] <= one["zeros"] and one["break_even"] >= 1, "a candidate's worth")
        check(abs(one["probability"] * one["writes"] * one["shader_share"] - one["zeros"]) <= 1e-9 * one["zeros"],
              "a candidate's zeros")
    timings = asker.ask(GAME + "/shaders", 200, ("Watch",), "?limit=500&kind=timing").json()["shaders"]
    check(all(one["original"] for one in timings), "what the timed shaders were specialized from")
    for one in candidates:
        there = [timing for timing in timings if timing["original"] == one["key"] and timing["published"]]
        most = max((timing["time"]["sessions"] for timing in there), default=0)
        measured = one["measured"] or {"timings": 0, "sessions": 0}
        check((measured["timings"], measured["sessions"]) == (len(there), most), "what was measured beside a candidate")
        check(not there or any(timing["key"] == measured["key"] and timing["profile"] == measured["profile"] and
                               timing["time"].items() <= measured.items() for timing in there), "a candidate's timing")
    check(any(one["measured"] for one in candidates), "no candidate of the first is measured")


def check_points(asker):
    for kind, measures in (("block", 3), ("zero", 2), ("timing", 2)):
        one = asker.ask(GAME + "/shaders", 200, ("Watch",), f"?kind={kind}").json()["shaders"][0]
        names = ("Watch", one["key"], one["profile"])
        path = SHADER + "/{profile}"
        answer = asker.ask(path, 200, names, "?limit=500").json()
        check(answer["shader"] == one, f"{kind}: the shader is another")
        check([point["point"] for point in answer["points"]] == list(range(one["points"])), f"{kind}: the points")
        for point in answer["points"]:
            check(len(point["measures"]) == measures, f"{kind}: has {len(point['measures'])} measures")
            for measure in point["measures"]:
                check(sum(measure["histogram"]) == measure["sessions"], f"{kind}: a histogram is not of the sessions")
                check(measure["ratio_low"] <= measure["ratio"] <= measure["ratio_high"] and
                      measure["mean_low"] <= measure["mean"] <= measure["mean_high"], f"{kind}: an interval")
        for sort, value in (("estimate", lambda point: -point["measures"][0]["ratio"]),
                            ("calls", lambda point: -point["calls"])):
            there = asker.ask(path, 200, names, f"?limit=500&sort={sort}").json()["points"]
            check(there == sorted(there, key=value), f"{kind}: points are not sorted by {sort}")
        lacking = asker.ask(path, 200, names, "?limit=500&which=lacking").json()
        check(lacking["total"] == one["points_lacking"], f"{kind}: {lacking['total']} points lack samples")
        check(asker.ask(path, 400, names, "?measure=3").json()["field"] == "measure", "a measure that is none")
        profiles = asker.ask(SHADER, 200, names[:2]).json()["shaders"]
        check(one in profiles and {two["key"] for two in profiles} == {one["key"]}, "the profiles of a key")
        asker.ask(SHADER, 400, names[:2], "?limit=0")
        asker.ask(path, 404, ("Watch", one["key"], "block-77"))
        asker.ask(path, 404, (HOSTILE, one["key"], one["profile"]))
        asker.ask(SHADER, 404, ("Watch", "0" * 48))
        asker.ask(SHADER, 404, ("Watch", "nonsense"))


def check_game(asker):
    whole = asker.ask(GAME, 200, ("Watch",)).json()
    listed = next(game for game in asker.ask("/v1/games", 200).json()["games"] if game["name"] == "Watch")
    for name in ("uploads", "points", "points_covered", "points_measured", "shaders", "shaders_published"):
        check(whole[name] == listed[name], f"{name} differs between the list and the game")
    check(whole["points_expected_single"] <= whole["points_expected"] <= whole["points"], "the expectations")
    timings = asker.ask(GAME + "/shaders", 200, ("Watch",), "?kind=timing&limit=100").json()["shaders"]
    spreads = [one["time"]["spread"] for one in timings]
    check(None in spreads and any(spread is not None and 0 < spread <= 0.101 for spread in spreads)
          and max(spread or 0 for spread in spreads) <= 0.101, f"how sure trials were: {spreads}")
    left = [(one["why"], one["shaders"]) for one in whole["left_alone"]]
    check(left == [("extension", 64), ("instruction", 4)], f"the shaders that are left alone: {left}")
    history = asker.ask(GAME + "/coverage", 200, ("Watch",), "?samples=1000").json()["samples"]
    times = [sample["time"] for sample in history]
    check(len(history) > 5 and times == sorted(set(times)), "the times of the coverage")
    check(history[-1]["points_covered"] == whole["points_covered"], "the newest sample is the game's")
    check(history[-1]["points_expected"] == whole["points_expected"], "and so is its expectation")
    fewer = asker.ask(GAME + "/coverage", 200, ("Watch",), "?samples=4").json()["samples"]
    check(len(fewer) == 4 and fewer[0]["time"] == times[0] and fewer[-1] == history[-1] | {
        "uploads_per_second": fewer[-1]["uploads_per_second"]}, "a selection of the coverage")
    asker.ask(GAME + "/coverage", 400, ("Watch",), "?samples=1")
    raced = asker.ask(GAME + "/variants", 200, ("Watch",)).json()
    check(raced["total"] == 2 and len(raced["races"]) == 2, "the races of variants")
    check([race["winner"]["variant"] for race in raced["races"] if race["winner"]] == ["hoist"], "who won")
    check(asker.ask(GAME + "/variants", 200, ("no such game",)).json()["total"] == 0, "races of no game")
    asker.ask(GAME + "/variants", 400, ("Watch",), "?limit=0")
    games = asker.ask("/v1/games", 200, query="?limit=500").json()["games"]
    for game in games:
        check(asker.ask(GAME, 200, (game["name"],)).json()["name"] == game["name"], f"the game {game['name']!r}")
        asker.ask(GAME + "/shaders", 200, (game["name"],))
    for tail in ("", "/coverage", "/candidates", "/shaders"):
        asker.ask(GAME + tail, 404, ("no such game",))
    asker.ask(SHADER, 404, ("no such game", "0" * 48))
    only = asker.ask("/v1/quarantine", 200, query="?game=" + quote(HOSTILE, safe="")).json()
    check(only["total"] == 1 and only["entries"][0]["game"] == HOSTILE, "the quarantine of one game")


def check_files(asker, document):
    for path, names in (("/", ()), ("/assets/{file}", ("main.js",)), ("/assets/{file}", ("dashboard.css",)),
                        ("/v1/openapi.json", ())):
        reply = asker.ask(path, 200, names)
        policy = reply.headers.get("Content-Security-Policy", "")
        check("default-src 'none'" in policy and "unsafe" not in policy, f"{path}: its policy is {policy}")
        check(reply.headers.get("X-Content-Type-Options") == "nosniff", f"{path}: may be sniffed")
        asker.ask(path, 304, names, headers={"If-None-Match": reply.headers["ETag"]})
        for outside in re.findall(rb"https?://[^\s\"'<>)]+", reply.body if path != "/v1/openapi.json" else b""):
            check(b"www.w3.org/2000/svg" in outside, f"{path}: names {outside}")
        head = asker.server.send(path.replace("{file}", "main.js"), "HEAD")
        check(head.status == 200 and head.body == b"", f"{path}: HEAD")
    asker.ask("/assets/{file}", 404, ("secret",))
    check(asker.ask("/v1/openapi.json", 200).json() == document, "the server has another description")


def check_uploads(asker, work):
    with open(work.upload, "rb") as file:
        body = file.read()
    path = "/v1/uploads"
    asker.ask(path, 204, method="post", body=body)
    asker.ask(path, 200, method="post", body=body)
    asker.ask(path, 400, method="post", body=b"nonsense")
    # Chunked: what announces its size is answered before it is read, and may never see the answer.
    asker.ask(path, 413, method="post", body=iter([b"x" * (1 << 20)] * 10))


def check_database(asker):
    asker.ask(GAME + "/verdicts", 200, ("Watch",))
    asker.ask(GAME + "/verdicts", 404, ("another",))
    rules = [asker.ask(GAME + "/rules", 200, (name,)) for name in ("Watch", "another")]
    check(all(one.json()["rules"] == one.headers["Piecemeal-Rules"] for one in rules), "rules are not the header's")
    check(rules[0].json()["rules"] != rules[1].json()["rules"], "two games have the same rules")
    reply = asker.ask(GAME + "/races", 200, ("Watch",))
    asker.ask(GAME + "/races", 304, ("Watch",), headers={"If-None-Match": reply.headers["ETag"]})
    none = asker.ask(GAME + "/races", 200, ("no such game",))
    check(none.body != reply.body, "the races of no game")
    asker.ask(GAME + "/races", 304, ("no such game",), headers={"If-None-Match": none.headers["ETag"]})
    asker.ask(GAME + "/races", 404, ("x" * 1000,))
    for tail in ("/database", "/database/previous"):
        reply = asker.ask(GAME + tail, 200, ("Watch",))
        asker.ask(GAME + tail, 304, ("Watch",), headers={"If-None-Match": reply.headers["ETag"]})
        asker.ask(GAME + tail, 404, ("Watch",), "?scene=nowhere")
        asker.ask(GAME + tail, 400, ("Watch",), "?scene=%f")


def check_metrics(text):
    """The text format as https://prometheus.io/docs/instrumenting/exposition_formats has it."""
    types, values, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split()[2]
            check(name not in helped and len(line.split()) > 4, f"metrics: {line}")
            helped.add(name)
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            check(name in helped and name not in types and kind in ("counter", "gauge", "histogram"), f"metrics: {line}")
            types[name] = kind
            continue
        found = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"\\\n]*"\})? (\S+)', line)
        check(found, f"metrics: {line}")
        name, label, value = found.groups()
        base = re.sub("_(bucket|sum|count)$", "", name)
        family = base if types.get(base) == "histogram" else name
        check(family in types, f"metrics: {name} has no type")
        check(family == list(types)[-1], f"metrics: {name} is not with its family")
        check(types.get(family) != "counter" or name.endswith("_total"), f"metrics: the counter {name}")
        check(name.startswith(("piecemeal_", "process_")), f"metrics: the name {name}")
        check((name, label) not in values, f"metrics: {name}{label} is there twice")
        values[name, label] = float(value)
    check(text.endswith("\n") and helped == set(types), "metrics: help, type and line ends")
    for name in (name for name, kind in types.items() if kind == "histogram"):
        buckets = [(float(label[5:-2].replace("+Inf", "inf")), value) for (one, label), value in values.items()
                   if one == name + "_bucket"]
        check(buckets == sorted(buckets) and [value for _, value in buckets] == sorted(value for _, value in buckets),
              f"metrics: the buckets of {name}")
        check(buckets[-1] == (float("inf"), values[name + "_count", None]), f"metrics: the count of {name}")
    return values


def check_documented(values, page):
    """Every name is on the page, and no other."""
    with open(page, encoding="utf-8") as file:
        named = set(re.findall("`((?:piecemeal|process)_[a-z_]+)`", file.read()))
    served = {re.sub("_(bucket|sum|count)$", "", name) for name, _ in values}
    check(named == served, f"metrics: only on the page {named - served}, only served {served - named}")


def check_counted(values):
    expected = {"stored": 1, "duplicate": 1, "invalid": 1, "too_large": 1, "unauthorized": 0, "busy": 0, "full": 0}
    for result, number in expected.items():
        check(values["piecemeal_uploads_total", f'{{result="{result}"}}'] == number, f"metrics: {result}")
    for name in ("piecemeal_upload_points_total", "piecemeal_upload_body_bytes_total", "piecemeal_storage_bytes",
                 "piecemeal_points", "piecemeal_points_covered", "piecemeal_games", "piecemeal_connections",
                 "piecemeal_commit_duration_seconds_count", "piecemeal_curation_duration_seconds_count",
                 "process_resident_memory_bytes", "process_cpu_seconds_total"):
        check(values.get((name, None), 0) > 0, f"metrics: {name} is {values.get((name, None))}")


def check_access(document, piecemeal, work):
    """Who may: everything but what is open needs a token once there are some."""
    uploaders, readers = work.write("uploaders", "player\n"), work.write("readers", "operator\n")
    with Server(piecemeal, work.storage, "--token-file", uploaders, "--dashboard-token-file", readers) as server:
        player, operator = Asker(document, server, "player"), Asker(document, server, "operator")
        nobody = Asker(document, server)
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                names = ("Watch", "0" * 48, "block-1")[:path.count("{")]
                schemes = {name for one in operation["security"] for name in one}
                if schemes:
                    nobody.ask(path, 401, names, method=method)
                for scheme, asker in (("uploader", player), ("reader", operator)):
                    if schemes and scheme not in schemes:
                        asker.ask(path, 401, names, method=method)
                    elif schemes:
                        status = server.send(path.replace("{game}", "Watch"), method.upper(), token=asker.token).status
                        check(status not in (401, 403), f"{method} {path}: {scheme} gets {status}")
        operator.ask("/v1/games", 200)
        operator.ask(GAME + "/database", 200, ("Watch",))
    for options in (("--token-file", uploaders), ("--address", "0.0.0.0")):
        with Server(piecemeal, work.storage, *options) as server:
            asker = Asker(document, server, "player")
            asker.ask("/", 200)
            asker.ask("/healthz", 200)
            for path, methods in document["paths"].items():
                if methods.get("get", {}).get("security") == [{"reader": []}]:
                    asker.ask(path, 403, ("Watch", "0" * 48, "block-1")[:path.count("{")])


def check_levels(document, piecemeal, work):
    """What is not published has levels; of what is, as with --dev, nothing is provisional."""
    def levels(asker):
        one = asker.ask(GAME + "/shaders", 200, ("Watch",), "?kind=zero&sort=points&limit=1").json()["shaders"][0]
        points = asker.ask(SHADER + "/{profile}", 200, ("Watch", one["key"], one["profile"])).json()["points"]
        return {point["provisional"] for point in points}

    for dev, expected in ((True, {None}), (False, {"likely", "unlikely", "unknown"})):
        with Server(piecemeal, work.storage, "--min-tokens", "1", dev=dev) as server:
            server.wait_for_games()
            found = levels(Asker(document, server))
            check(found == expected, f"levels are {found}, not {expected}")


def main():
    piecemeal, fill, openapi = sys.argv[1:]
    with open(openapi, encoding="utf-8") as file:
        document = json.load(file)
    with Work(fill, 3000, 300) as work:
        work.write("Watch.verdicts", "piecemeal verdicts 1\n")
        with Server(piecemeal, work.storage, "--verdicts", work.folder) as server:
            server.wait_for_games()
            asker = Asker(document, server)
            asker.ask("/healthz", 200)
            asker.ask("/v1/status", 200)
            check_game(asker)
            check_lists(asker)
            check_orders(asker)
            check_points(asker)
            check_files(asker, document)
            check_database(asker)
            check_uploads(asker, work)
            metrics = check_metrics(asker.ask("/metrics", 200).body.decode())
            check_counted(metrics)
            check_documented(metrics, os.path.join(os.path.dirname(openapi), "dashboard.md"))
            for host, status in (("localhost", 200), ("localhost:80", 200), ("127.1.2.3:1", 200), ("[::1]", 200),
                                 ("example.org", 403), ("localhost.example.org", 403), ("127.0.0.1.example.org", 403),
                                 ("[::2]", 403), ("", 403), ("10.0.0.1", 403)):
                asker.ask("/v1/games", status, headers={"Host": host})
            for path in document["paths"]:
                plain = path.replace("{game}", "Watch").replace("{file}", "main.js")
                method = "GET" if path == "/v1/uploads" else "DELETE"
                check(server.send(plain, method).status == 405, f"{method} {plain} is not refused")
        check_levels(document, piecemeal, work)
        check_access(document, piecemeal, work)
        check_failures(document, piecemeal, work)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status in operation["responses"]:
                check((path, method, status) in seen, f"{method} {path}: nothing was answered with {status}")
    print(f"{len(seen)} answers as described, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
