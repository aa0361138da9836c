"""The best result of each piglit test over several runs, a line a test.

usage: piglit_results.py [--failed] FOLDER...    as `piglit run` wrote them; --failed: only the names of those that
                                                 neither passed nor were skipped
"""
import bz2
import glob
import json
import os
import sys


def read(folders):
    best = {}
    for folder in folders:
        [path] = glob.glob(os.path.join(folder, "results.json*"))
        opener = bz2.open if path.endswith("bz2") else open
        with opener(path, "rt") as file:
            tests = json.load(file)["tests"]
        for name, test in tests.items():
            if best.get(name) != "pass":
                best[name] = test["result"]
    return best


def main(arguments):
    if arguments[0] == "--failed":
        for name, result in sorted(read(arguments[1:]).items()):
            if result not in ("pass", "skip"):
                print(name)
        return None
    best = read(arguments)
    for name in sorted(best):
        print(name, best[name])
    if sum(result == "pass" for result in best.values()) < 30:
        return "too few tests pass to compare anything"
    return None


sys.exit(main(sys.argv[1:]))
