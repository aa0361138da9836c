#!/usr/bin/env python3
"""Says whether two builds make the same bytes: compare_builds.py BEFORE AFTER [OPTION…]

BEFORE and AFTER are build folders, as build/release, with tests built. Three parts:

modules   `piecemeal shader` over every module of the examples, tests, benchmarks and Debian's programs: canonical
          words and keys, points, instrumented modules (all points and some), specialized ones (everything always zero,
          and random profiles of fixed seeds), what is said and how it ends
sessions  examples with either layer, seeded and waiting for variants: log lines, pictures, shader stores, uploads
uploads   the same spool and the same uploads through either aggregator: answers, tables, published databases, and what
          `db`, `report`, `sync --dry-run` and `serve` say of them

Random numbers and times are left out. Prints how much was compared and what differs; ends with 1 when something does.
It takes about a quarter of an hour on two processors."""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from comparison import aggregated, modules, sessions  # noqa: E402  (the path comes first)
from comparison.findings import Findings  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--corpus", metavar="FOLDER", help="also the programs' shaders that tests/corpus/ collected")
    parser.add_argument("--programs", action="store_true",
                        help="collect them first, with either layer, and compare the keys; BEFORE's go to the "
                             "--corpus, if one is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="modules at a time (as many as there are processors)")
    parser.add_argument("--remember", metavar="FOLDER",
                        help="keep what BEFORE makes of each module, for the next comparison with it")
    parser.add_argument("--only", choices=["modules", "sessions"], help="sessions: with the uploads")
    return parser.parse_args()


def compare_keys(before, after, corpus, corpus_after, findings):
    """Runs the programs with both layers: the keys under which their shaders are kept are of the canonical words."""
    names = []
    for build, folder in ((before, corpus), (after, corpus_after)):
        subprocess.run([os.path.join(ROOT, "tests/corpus/collect.sh"), build, folder], stdout=sys.stderr, check=True)
        names.append({os.path.relpath(path, folder) for path in glob.glob(os.path.join(folder, "*/*.spv"))})
    findings.count("keys of programs' shaders, by the layer", 24 * len(names[0]), len(names[0]))
    for name in sorted(names[0] ^ names[1]):
        findings.differs("a key that only one layer met", name)


def compare_modules(options, before, after, work, findings, say):
    sources = list(modules.of_build(before, ROOT, work))
    say(f"{len(sources)} modules of the build")
    corpus = options.corpus
    if options.programs:
        corpus = corpus or os.path.join(work, "corpus")
        compare_keys(before, after, corpus, os.path.join(work, "corpus-after"), findings)
    if corpus:
        found = list(modules.of_corpus(corpus, findings))
        if not found:
            findings.differs("no shader in the corpus", corpus)
        sources += found
        say(f"{len(sources)} with the corpus")
    programs = [os.path.join(build, "tools/piecemeal") for build in (before, after)]
    modules.compare(*programs, sources, work, options.jobs, options.remember, findings, say)


def main():
    options = parse()
    before, after = os.path.abspath(options.before), os.path.abspath(options.after)
    started = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - started:5.0f} s] {text}", file=sys.stderr, flush=True)

    work = tempfile.mkdtemp(prefix="compare-builds-")
    findings = Findings(tempfile.mkdtemp(prefix="differences-"))
    try:
        if options.only != "modules":
            sessions.compare(before, after, ROOT, work, findings, say)
            aggregated.compare(before, after, work, findings, say)
        if options.only != "sessions":
            compare_modules(options, before, after, work, findings, say)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    status = findings.report()
    if status == 0:
        os.rmdir(findings.kept)
    return status


sys.exit(main())
