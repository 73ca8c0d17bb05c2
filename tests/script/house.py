#!/usr/bin/env python3
"""Holds the sources to tests/HOUSE, by include lines and by linker symbols, and to including what
they use (includes.py).

house.py SOURCE_DIR AUTOMAP [--why ROOM ROOM]: prints the map with the counts of files and lines of
each room and of the arrows into the rooms below; exit code 1 when an arrow points up, when a folder
is not in the table, or when there is nothing to look at. --why lists what makes one arrow.
"""
import collections
import os
import re
import subprocess
import sys

from includes import check as includes_check

ROOTS = ("hlo", "rl", "engine", "tui")


def read_house(path):
    """Rooms from the roof down, pairs of top rooms that must not meet, names that may be alone."""
    rooms, apart, alone = {}, [], []
    for line in open(path):
        words = line.split("#")[0].split()
        if words[:1] == ["apart"]:
            apart += [(words[1], words[2]), (words[2], words[1])]
        elif words[:1] == ["alone"]:
            alone += words[1:]
        elif words:
            rooms[words[0]] = len(rooms)
    return rooms, apart, alone


def alone_without_leave(links, defined, leave):
    """Public names that no other file of the program needs and tests/HOUSE does not list."""
    needed = {name for _, _, name in links}
    return ["%s of %s is public, yet no other file needs it: delete it, make it static, or give its "
            "reason in tests/HOUSE" % (name, source) for name, source in sorted(defined.items())
            if name not in needed and name != "main" and not source.endswith(".pb-c.c") and
            not any(name == a or (a.endswith("*") and (name + " " + source).find(a[:-1]) in
                                  (0, len(name) + 1)) for a in leave)]


def sources():
    for root in ROOTS:
        for folder, _, names in os.walk(root):
            for name in names:
                if name.endswith((".c", ".h")):
                    yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as text:
        for line in text:
            found = re.match(r'#\s*include\s*"((?:%s)/[^"]+)"' % "|".join(ROOTS), line)
            if found:
                yield found.group(1)


def objects(build, known):
    """(source, object) of what was compiled from files that are there, generated ones too."""
    for root in ROOTS:
        for folder, _, names in os.walk(os.path.join(build, root)):
            for name in names:
                path = os.path.join(folder, name)
                found = re.search(r"/CMakeFiles/[^/]+\.dir/(.+\.c)\.o$", path)
                source = found and os.path.join(root, found.group(1))
                if source and (source in known or os.path.exists(os.path.join(build, source))):
                    yield source, path


def symbols(build, known):
    """Arrows from file to file, who needs what is defined where, and {symbol: file}."""
    defined, needed = {}, collections.defaultdict(set)
    found = {path: source for source, path in objects(build, known)}
    listing = subprocess.run(["nm", "-A", *found], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        path, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind in "TDRBVC":
            defined[name] = found[path]
        elif kind == "U":
            needed[found[path]].add(name)
    return [(source, defined[name], name) for source, names in needed.items()
            for name in names if name in defined], defined


def main():
    root, automap = sys.argv[1:3]
    os.chdir(root)
    rooms, apart, leave = read_house("tests/HOUSE")
    files = sorted(sources())
    arrows = [(f, g, "#include") for f in files for g in includes(f)]
    links, defined = symbols(os.path.dirname(automap), set(files))
    wrong = ["%s: folder %s is not in tests/HOUSE" % (f, os.path.dirname(f)) for f in files
             if os.path.dirname(f) not in rooms]
    if len(files) < 100 or len(links) < 100:
        wrong.append("%d files, %d symbols: too few to say anything" % (len(files), len(links)))

    wrong += alone_without_leave(links, defined, leave)
    wrong += includes_check(files, os.path.dirname(automap), links, defined)[0]

    wrong += ["%s includes %s, which is internal to its room" % (f, g) for f, g, _ in arrows
              if "_internal.h" in g and os.path.dirname(f) != os.path.dirname(g)]

    named = collections.defaultdict(set)
    for f in files:
        named[os.path.basename(f)].add(f)
    wrong += ["%s: one name in two rooms" % " and ".join(sorted(same)) for same in named.values()
              if len(same) > 1]

    between = collections.defaultdict(list)
    for f, g, by in arrows + links:
        a, b = os.path.dirname(f), os.path.dirname(g)
        if a == b or a not in rooms or b not in rooms:
            continue
        between[a, b].append((f, g, by))
        if rooms[a] > rooms[b] or (a.split("/")[0], b.split("/")[0]) in apart:
            wrong.append("%s uses %s of %s: %s must not use %s" % (f, by, g, a, b))

    if sys.argv[3:4] == ["--why"]:
        for f, g, by in sorted(set(between[sys.argv[4], sys.argv[5]])):
            print("%-40s %-40s %s" % (f, g, by))
        return 0
    for room in rooms:
        own = [f for f in files if os.path.dirname(f) == room]
        lines = sum(open(f, encoding="utf-8").read().count("\n") for f in own)
        below = ["%s %d" % (b, len({(f, g) for f, g, _ in between[room, b]}))
                 for b in rooms if (room, b) in between]
        print("%-16s %3d files %6d lines  -> %s" % (room, len(own), lines, ", ".join(below) or "-"))
    for line in sorted(set(wrong)):
        print(line, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
