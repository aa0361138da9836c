#!/usr/bin/env python3
"""real_programs.py [--json FILE] FOLDER… | --line FOLDER NUMBER: what real_programs.sh has played.

A FOLDER is a program's, with playedN.status, .log, .output and .db of each session. Prints a Markdown table of sessions and one
of what kept shaders from a sample; or one session's line. What a figure is of:

- frames, windows, calls, sampled, shaders, points: `piecemeal status` (docs/status.md). Points are those of the shaders that
  were sampled.
- variants: that count, as the log says. By the log's last lines, one for each shader whose points are known, too: how many
  chosen calls found no variant, and why.
- known: what `piecemeal db show` has after the session, of blocks, turns and zeros: shaders, of them those with every point
  sampled, and points.
- specialized, tried, faster: shaders of which the logs say so, in this session and those before it. Tried are those whose trial
  came to an end.
"""
import argparse
import json
import pathlib
import re

SHADER = re.compile(
    r"shader ([0-9a-f]{12}): (\d+) calls were counted, of (\d+) of (\d+) points; (\d+) variants in (\d+) batches; went by: "
    r"(\d+) before it was known, (\d+) before a variant was made, (\d+) for lack of room, (\d+) by limits.first_draw_words, (\d+) as it counts what is occluded")
UNKNOWN = re.compile(r"(\d+) chosen calls went by before their shaders were known")
GONE = ("before the shader was known", "before a variant was made", "for lack of room", "by limits.first_draw_words",
        "as it counts what is occluded")
REFUSED = re.compile(r"a shader gets no variants?: (.*)")
WINDOW = re.compile(r"heartbeat \d+: (a profiling window opens|the profiling window closes)")
FULL = "limits.variants is reached"
SPECIALIZED = re.compile(r"shader ([0-9a-f]+),? is specialized")
NOT_WORTH = re.compile(r"shader ([0-9a-f]+) is not worth specializing")
TRIED = re.compile(r"tried a specialized shader ([0-9a-f]+): ([0-9.]+) % of the time \(.*\), (faster|dropped|undecided)")
KINDS = ("block", "zero", "turns")


def read_status(path):
    """The session's devices together."""
    devices = json.loads(path.read_text() or "[]")
    keys = ("heartbeats", "windows", "calls", "sampled", "shaders", "shaders_sampled", "points", "points_sampled",
            "specialized", "trying", "dropped")
    status = {key: sum(device[key] for device in devices) for key in keys}
    status["keeps_recordings"] = any(device["keeps_recordings"] for device in devices)
    status["why_not"] = sorted({device["why_not"] for device in devices if device["why_not"]})
    return status


def read_known(path):
    """What is known of the program: of shaders all of whose points were sampled, by their keys."""
    shaders, points, covered, lacking = set(), 0, 0, set()
    for one in json.loads(path.read_text())["shaders"]:
        if one["kind"] not in KINDS:
            continue
        shaders.add(one["key"])
        points += one["space"]
        covered += one["covered"]
        if one["covered"] < one["space"]:
            lacking.add(one["key"])
    return {"shaders": len(shaders), "whole": len(shaders - lacking), "points": points, "covered": covered}


def read_session(folder, number, before):
    """before: the sessions' logs before this one."""
    log = (folder / f"played{number}.log").read_text(errors="replace")
    output = (folder / f"played{number}.output").read_text(errors="replace")
    status = read_status(folder / f"played{number}.status")
    lines = [found.groups() for found in SHADER.finditer(log)]
    gone = [sum(int(line[6 + i]) for line in lines) for i in range(len(GONE))]
    gone[0] = sum(int(calls) for calls in UNKNOWN.findall(log))
    every = before + log
    tried = {shader: outcome for shader, _, outcome in TRIED.findall(every)}
    sentences = re.findall(r"^piecemeal run: (?:.*: )?((?:sampled|sampling was off).*)$", output, re.M)
    return log, {
        "program": folder.name,
        "session": number,
        "frames": status["heartbeats"],
        "windows": status["windows"],
        "calls": status["calls"],
        "sampled": status["sampled"],
        "shaders": status["shaders"],
        "shaders_sampled": status["shaders_sampled"],
        "points": status["points"],
        "points_sampled": status["points_sampled"],
        "keeps_recordings": status["keeps_recordings"],
        "variants": len(re.findall("made a variant of shader", log)),
        "why": why(status, lines, log),
        "gone_by": dict(zip(GONE, gone)),
        "said": bool(lines),
        "known": read_known(folder / f"played{number}.db"),
        "specialized": len(set(SPECIALIZED.findall(every))),
        "not_worth": len(set(NOT_WORTH.findall(every))),
        "tried": len(tried),
        "faster": sum(outcome == "faster" for outcome in tried.values()),
        "in_use": status["specialized"],
        "sentence": sentences[-1] if sentences else "",
    }


def why(status, lines, log):
    """How many shaders have no sample, by what kept them from it."""
    reasons = {}
    left = status["shaders"] - status["shaders_sampled"]

    def blame(reason, shaders):
        nonlocal left
        shaders = min(shaders, left)
        if shaders > 0:
            reasons[reason] = reasons.get(reason, 0) + shaders
            left -= shaders

    for reason in status["why_not"]:
        blame(reason, left)
    if status["windows"] == 0:
        blame("no window opened", left)
    for reason in REFUSED.findall(log):
        blame(reason, 1)
    for line in lines:
        if int(line[1]) > 0:
            continue
        gone = [int(text) for text in line[6:]]
        if int(line[3]) == 0:
            blame("it has no points", 1)
        elif sum(gone) == 0:
            blame("no call of it was chosen", 1)
        else:
            blame(f"its chosen calls went by {GONE[gone.index(max(gone))]}", 1)
    if not lines:
        blame("not said: the program did not destroy its device", left)
    blame("no call of it was chosen, or the layer did not come to it", left)
    return reasons


def read_program(folder):
    before, sessions = "", []
    for number in range(1, 1 + len(list(folder.glob("played*.db")))):
        log, session = read_session(folder, number, before)
        before += log
        sessions.append(session)
    return sessions


def columns(session):
    known = session["known"]
    return (session["program"], session["session"], session["frames"], session["windows"],
            f"{session['shaders_sampled']} of {session['shaders']}",
            f"{session['points_sampled']} of {session['points']}", f"{session['sampled']:,} of {session['calls']:,}",
            session["variants"], f"{known['whole']} of {known['shaders']}", f"{known['covered']} of {known['points']}",
            session["specialized"], session["not_worth"], session["tried"], session["faster"])


HEADS = ("program", "session", "frames", "windows", "shaders with a sample", "points of theirs", "calls sampled",
         "variants made", "known by then: every point", "points", "specialized by then", "not worth it", "tried", "faster")


def row(cells):
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--line", action="store_true")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    options = parser.parse_args()
    if options.line:
        session = read_program(pathlib.Path(options.folders[0]))[int(options.folders[1]) - 1]
        print(", ".join(f"{head} {cell}" for head, cell in zip(HEADS, columns(session))), session["why"],
              {reason: calls for reason, calls in session["gone_by"].items() if calls}, session["sentence"], flush=True)
        return
    sessions = [session for folder in options.folders for session in read_program(pathlib.Path(folder))]
    row(HEADS)
    row(["---"] * len(HEADS))
    for session in sessions:
        row(columns(session))
    print()
    row(("program", "session", "shaders without a sample, and why", *(f"chosen calls that went by {one}" for one in GONE)))
    row(["---"] * (3 + len(GONE)))
    for session in sessions:
        reasons = "; ".join(f"{shaders} × {reason}" for reason, shaders in session["why"].items()) or "none"
        row((session["program"], session["session"], reasons, *session["gone_by"].values()))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(sessions, indent=1) + "\n")


main()
