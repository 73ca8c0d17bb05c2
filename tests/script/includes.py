"""Include what you use: a file that names something one of our headers declares includes that
header itself, and includes none of which it uses nothing.

Two exceptions. X.c may rely on what X.h includes. A header that declares nothing itself, like
rl/rl.h, stands for what it includes. What headers declare is read from the preprocessor's output,
so names that X macros make are there too.
"""
import collections
import os
import re
import subprocess

NAME = r"[A-Za-z_]\w*"
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(%s)" % NAME)
# A row of a table: its words are parts of names that the macro X pastes together.
ROW = re.compile(r"\bX\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "__attribute__", "_Static_assert"}


class Declared:
    """What a piece of C declares: tags with a body, tags without one, plain names, and every name
    that stands inside of braces."""

    def __init__(self, text):
        self.tags = set(re.findall(r"\b(?:struct|union|enum)\s+(%s)\s*\{" % NAME, text))
        self.forward = set(re.findall(r"^\s*(?:struct|union)\s+(%s)\s*;" % NAME, text, re.M))
        self.names = set()
        for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", text):
            self.names |= set(re.findall(r"(?:^|,)\s*(%s)" % NAME, body))
        flat, inside = flatten(text)
        self.inside = set(re.findall(NAME, inside))
        for piece in flat.split(";"):
            self.names |= self.declaration(piece)

    @staticmethod
    def declaration(piece):
        piece = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*|\{\}\s*(?=static|%s\s+\**%s\s*\()"
                       % (NAME, NAME), " ; ", piece, flags=re.S)
        found = set()
        for part in piece.split(";"):
            pointer = re.search(r"\(\s*\*\s*(%s)\s*\)?\s*[\[(]" % NAME, part)
            call = [n for n in re.findall(r"(%s)\s*\(" % NAME, part) if n not in KEYWORDS]
            last = re.search(r"(%s)\s*(?:\[.*\])?\s*(?:=.*)?$" % NAME, part.strip(), re.S)
            if "typedef" in part.split():
                found.add(pointer.group(1) if pointer else call[0] if call else last.group(1))
            elif call:
                found.add(call[0])
            elif last and (re.match(r"\s*extern\b", part) or re.search(r"\w\W+\w", part)) \
                    and not re.match(r"\s*(struct|union|enum)\s+%s\s*$" % NAME, part):
                found.add(last.group(1))
        return found


def flatten(text):
    """The text with every outermost pair of braces empty, and what stood in them."""
    flat, inside, depth = [], [], 0
    for part in re.split(r"([{}])", text):
        if part == "}":
            depth -= 1
        if depth == 0:
            flat.append(part)
        elif part not in "{}":
            inside.append(part)
        if part == "{":
            depth += 1
    return "".join(flat), " ".join(inside)


def headers_declare(headers, build):
    """{header: Declared} by one run of the preprocessor over all of them."""
    program = "".join('#include "%s"\n' % h for h in headers)
    out = subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-std=c17", "-D_POSIX_C_SOURCE=200809L",
         "-D_DEFAULT_SOURCE", "-I.", "-isystem", build, "-I/usr/include/cjson", "-E", "-dD", "-x",
         "c", "-"], input=program, capture_output=True, text=True, check=True).stdout
    text, macros = collections.defaultdict(list), collections.defaultdict(set)
    here = ""
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        define = re.match(r"#(define|undef) (%s)" % NAME, line)
        if marker:
            here = os.path.relpath(os.path.join("/", marker.group(1)), os.path.join("/", build)) \
                if marker.group(1).startswith(build) else marker.group(1).removeprefix("./")
        elif define and define.group(1) == "define":
            macros[here].add(define.group(2))
        elif define:
            macros[here].discard(define.group(2))
        else:
            text[here].append(line)
    declared = {}
    for header in set(headers) | {h for h in text if h.endswith(".pb-c.h") and h[0] != "/"}:
        declared[header] = Declared("\n".join(text[header]))
        declared[header].names |= {m for m in macros[header] if not m.endswith("_H")}
    return declared


def owners(declared):
    """Headers that declare a tag, and headers that declare a plain name."""
    tags, names = collections.defaultdict(set), collections.defaultdict(set)
    for header, what in declared.items():
        for tag in what.tags:
            tags[tag].add(header)
        for name in what.names:
            names[name].add(header)
    # A tag whose body is nobody else's business is declared where it is named without one.
    hidden = {tag for tag, where in tags.items() if all("_internal.h" in h for h in where)}
    for header, what in declared.items():
        for tag in what.forward:
            if tag in hidden or not tags[tag]:
                tags[tag].add(header)
    return tags, names


def uses(path, text, tags, names, linked):
    """(name, headers that declare it) of all that a file names and does not declare for itself.
    `linked`: what its object needs from others or gives to them."""
    own = Declared(re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M | re.S))
    defines = set(re.findall(r"^\s*#\s*define\s+(%s)" % NAME, text, re.M))
    for tag in set(TAG.findall(text)) - own.tags - own.forward:
        if path not in tags.get(tag, {path}):
            yield "struct or enum " + tag, tags[tag]
    plain = {n for dot, n in re.findall(r"(\.\s*|->\s*)?\b(%s)\b(?!\s*:[^:?])" % NAME, text)
             if not dot and not n.islower()}
    plain |= set(re.findall(r"(?<![\w.>])(%s)\s*\(" % NAME, text))
    plain |= {n for n in re.findall(r"\b(%s)\s+\**%s" % (NAME, NAME), TAG.sub(" ", text))}
    for name in plain - own.names - defines | linked:
        if name in names and path not in names[name]:
            yield name, names[name]


def check(files, build, links, defined):
    """Sentences of what is wrong, and {file: (headers to add, headers to drop)}. `links`: (file,
    file that defines, symbol); `defined`: {symbol: file}."""
    includes = {}
    code = {}
    for f in files:
        raw = open(f, encoding="utf-8").read()
        includes[f] = re.findall(r'^\s*#\s*include\s*"([^"]+)"', raw, re.M)
        bare = NOISE.sub(" ", re.sub(r'^\s*#\s*include.*$', "", raw, flags=re.M))
        code[f] = ROW.sub(" ", bare)
    declared = headers_declare([f for f in files if f.endswith(".h")], build)
    tags, names = owners(declared)
    linked = collections.defaultdict(set)
    for source, _, name in links:
        linked[source].add(name)
    for name, source in defined.items():
        linked[source].add(name)
    umbrella = {h for h, what in declared.items() if not (what.tags | what.names | what.forward)}
    wrong = ["struct or enum %s has a body in %s" % (tag, " and ".join(sorted(where)))
             for tag, where in sorted(tags.items())
             if len([h for h in where if tag in declared[h].tags]) > 1]
    mend = {}
    for f in files:
        near = set(includes[f])
        twin = f[:-1] + "h" if f.endswith(".c") else None
        if twin in near and twin in includes:
            near |= set(includes[twin])
        for h in umbrella & near:
            near |= set(includes[h])
        add = {}
        for name, where in uses(f, code[f], tags, names, linked[f]):
            if not where & near:
                add.setdefault(min(where, key=lambda h: ("_internal.h" in h, h)), []).append(name)
        said = set(re.findall(NAME, code[f]))
        drop = [h for h in includes[f] if h in declared and h not in umbrella and h != twin
                and f not in umbrella and h not in add
                and not said & (declared[h].names | declared[h].tags | declared[h].forward |
                                declared[h].inside)]
        wrong += ["%s uses %s without including %s" % (f, ", ".join(sorted(add[h])), h)
                  for h in sorted(add)]
        wrong += ["%s includes %s and uses nothing of it" % (f, h) for h in drop]
        if add or drop:
            mend[f] = (sorted(add), drop)
    return wrong, mend
