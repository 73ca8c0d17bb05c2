"""Operator graphs that nobody has seen, of the published kinds, and what the definitions say about them.

Layer graphs (chains with skips, Inception-like blocks, encoder and decoder) and operator graphs (attention, gated
units, weights of no time), of inference and training with colors, of all sizes from 5 to some hundred nodes, by seed.
Their optima come from outside: every assignment tried, the published program over all pairs of ideals, and the
integer program of the definitions solved by CBC where it is installed. Only the standard library is used.

Usage: place_unseen.py AUTOMAP [COUNT [FIRST_SEED]]
"""
import itertools, json, os, random, shutil, subprocess, sys, tempfile

TOLERANCE = 1e-7
ASSIGNMENTS_MOST, PAIRS_MOST, CHOICES_MOST, CBC_SECONDS = 5000, 200000, 90, 10


# ---- graphs ----

class Graph:
    def __init__(self, rng):
        self.rng, self.nodes, self.edges = rng, [], []

    def node(self, time, size=0.0, out=None, before=(), **more):
        v = len(self.nodes)
        self.nodes.append({"id": v, "supportedOnFpga": 1, "isBackwardNode": 0, "fpgaLatency": time,
                           "cpuLatency": time * self.slower, "size": size,
                           "out": self.rng.uniform(0, 2) if out is None else out, **more})
        self.edges += [(u, v) for u in sorted(set(before))]
        return v

    def work(self):
        return self.rng.choice((self.rng.uniform(0.5, 6), self.rng.uniform(0, 1), 3.0))


def chain_with_skips(g, n):
    ends = [g.node(g.work(), g.rng.uniform(0, 4))]
    for i in range(1, n):
        before = [ends[-1]] + ([ends[-3]] if i > 2 and g.rng.random() < 0.35 else [])
        ends.append(g.node(g.work(), g.rng.uniform(0, 4), before=before))


def inception(g, n):
    at = g.node(g.work())
    while len(g.nodes) < n:
        arms = []
        for _ in range(g.rng.randint(2, 3)):
            a = at
            for _ in range(g.rng.randint(1, 3)):
                a = g.node(g.work(), g.rng.uniform(0, 4), before=[a])
            arms.append(a)
        at = g.node(0.0 if g.rng.random() < 0.5 else g.work(), before=arms)


def encoder_decoder(g, n):
    a = g.node(g.work(), 5)
    for _ in range(n // 3):
        a = g.node(g.work(), g.rng.uniform(0, 4), before=[a])
    b = g.node(g.work(), 5)
    while len(g.nodes) < n:
        b = g.node(g.work(), g.rng.uniform(0, 4), before=[b, a])


def operators(g, n):
    x = g.node(0.0, out=g.rng.uniform(0, 3))
    while len(g.nodes) < n:
        weight = lambda: g.node(0.0, g.rng.uniform(1, 5), g.rng.uniform(0, 4))
        if g.rng.random() < 0.5:  # attention
            q, k, v = (g.node(g.work(), before=[x, weight()]) for _ in range(3))
            s = g.node(g.rng.uniform(0, 1), before=[q, k])
            o = g.node(g.work(), before=[s, v])
            x = g.node(0.1, before=[o, x])
        else:  # a gated unit
            gate, up = g.node(g.work(), before=[x, weight()]), g.node(g.work(), before=[x])
            x = g.node(g.rng.uniform(0, 1), before=[gate, up])


def train(g):
    """Every forward node gets a backward one of its color, edges turned round; some orphans, some uncolored."""
    forward, edges = len(g.nodes), list(g.edges)
    of = {}
    for u in range(forward):
        if g.rng.random() < 0.06 and g.nodes[u]["fpgaLatency"] == 0:
            continue  # nothing is learned through it
        g.nodes[u]["colorClass"] = u
        of[u] = g.node(g.nodes[u]["fpgaLatency"] * 2, before=[u] if g.rng.random() < 0.8 else [], colorClass=u)
        g.nodes[of[u]]["isBackwardNode"] = 1
    g.edges += [(of[v], of[u]) for u, v in edges if u in of and v in of]
    if g.rng.random() < 0.4:  # a loss that has no forward node
        last = g.node(0.5, before=[forward - 1], isBackwardNode=1)
        g.edges += [(last, of[forward - 1])] if forward - 1 in of else []


def make(seed):
    rng = random.Random(seed)
    g = Graph(rng)
    g.slower = rng.choice((10, 23, 4, 1))
    kind = (chain_with_skips, inception, encoder_decoder, operators)[seed % 4]
    small = seed % 8 < 4
    kind(g, rng.randint(5, 7) if small else rng.randint(14, 60))
    if seed // 4 % 2 == seed // 16 % 2:
        train(g)
    k = rng.randint(1, 3) if small else rng.randint(2, 6)
    total = sum(v["size"] for v in g.nodes)
    if rng.random() < 0.15:
        rng.choice(g.nodes)["supportedOnFpga"] = 0
    text = dict(maxSizePerFPGA=total * rng.choice((1, 1, 0.8, 1.3 / k)) + 1, maxFPGAs=k, maxCPUs=rng.choice((0, 1, 1, 2)),
                nodes=[{f: v for f, v in node.items() if f != "out"} for node in g.nodes],
                edges=[dict(sourceId=u, destId=v, cost=g.nodes[u]["out"]) for u, v in g.edges])
    return kind.__name__ + (", training" if any(v["isBackwardNode"] for v in g.nodes) else ", inference"), text


# ---- the definitions ----

class Problem:
    def __init__(self, text):
        self.nodes = text["nodes"]
        self.cost = {e["sourceId"]: e["cost"] for e in text["edges"]}
        self.edges = [(e["sourceId"], e["destId"]) for e in text["edges"]]
        self.users = {}
        for u, v in self.edges:
            self.users.setdefault(u, set()).add(v)
        self.k, self.l, self.memory = text["maxFPGAs"], text["maxCPUs"], text["maxSizePerFPGA"]
        color = [v.get("colorClass", ("own", v["id"])) for v in self.nodes]
        names = sorted(set(color), key=str)
        self.classes = [[v["id"] for v in self.nodes if color[v["id"]] == c] for c in names]
        self.class_of = {v: c for c, nodes in enumerate(self.classes) for v in nodes}
        backward = [v["isBackwardNode"] for v in self.nodes]
        orphan = [all(backward[v] for v in c) for c in self.classes]
        self.order = set()  # pairs of classes: the first before the second
        for u, v in self.edges:
            a, b = self.class_of[u], self.class_of[v]
            if a != b and not backward[u] and not backward[v]:
                self.order.add((a, b))
            if a != b and backward[u] and backward[v] and (orphan[a] or orphan[b]):
                self.order.add((b, a))

    def load(self, inside, core, rule="sum"):
        """Time per sample of a set of nodes on one device; None: it may not be there."""
        if core:
            return sum(self.nodes[v]["cpuLatency"] for v in inside)
        if not all(self.nodes[v]["supportedOnFpga"] for v in inside):
            return None
        if sum(self.nodes[v]["size"] for v in inside) > self.memory * (1 + 1e-12):
            return None
        work = sum(self.nodes[v]["fpgaLatency"] for v in inside)
        sent = sum(self.cost[u] for u in inside if u in self.users and self.users[u] - inside)
        fetched = sum(c for u, c in self.cost.items() if u not in inside and self.users[u] & inside)
        return work + sent + fetched if rule == "sum" else max(work, sent + fetched)

    def value(self, device, rule):
        worst = 0.0
        for d in set(device):
            inside = {v for c, nodes in enumerate(self.classes) if device[c] == d for v in nodes}
            one = self.load(inside, d >= self.k, rule)
            if one is None:
                return None
            worst = max(worst, one)
        return worst

    def in_a_row(self, device):
        after = {(device[a], device[b]) for a, b in self.order if device[a] != device[b]}
        left = set(device)
        while left:
            first = [d for d in left if not any(b == d and a in left for a, b in after)]
            if not first:
                return False
            left -= set(first)
        return True

    def by_assignments(self):
        """{question: optimum or None}, or nothing when they are too many."""
        devices = self.k + self.l
        if devices ** len(self.classes) > ASSIGNMENTS_MOST:
            return {}
        best = {}
        for device in itertools.product(range(devices), repeat=len(self.classes)):
            row = self.in_a_row(device)
            for rule in ("sum", "max"):
                value = self.value(device, rule)
                for sets in ("on", "off") if row else ("off",):
                    key = (sets, rule)
                    best.setdefault(key, None)
                    if value is not None and (best[key] is None or value < best[key]):
                        best[key] = value
        return {(s, r): best.get((s, r)) for s in ("on", "off") for r in ("sum", "max")}

    def ideals(self):
        """All, smallest first; None: too many."""
        before = [frozenset(a for a, b in self.order if b == c) for c in range(len(self.classes))]
        level, found = {frozenset()}, [frozenset()]
        for _ in self.classes:
            level = {i | {c} for i in level for c in range(len(self.classes)) if c not in i and before[c] <= i}
            found += level
            if len(found) ** 2 / 2 > PAIRS_MOST:
                return None
        return found

    def by_ideals(self):
        """The published program over all pairs, costs by definition; no answer where classes wait for each other."""
        ideals = self.ideals()
        if not ideals or len(ideals[-1]) < len(self.classes):
            return {}
        nodes = {i: frozenset(v for c in i for v in self.classes[c]) for i in ideals}
        states = [(a, c) for a in range(self.k + 1) for c in range(self.l + 1)]
        best = {ideals[0]: {s: 0.0 for s in states}}
        for n, i in enumerate(ideals[1:], 1):
            here = dict.fromkeys(states)
            for j in ideals[:n]:
                if not j < i:
                    continue
                inside = nodes[i] - nodes[j]
                loads = self.load(inside, False), self.load(inside, True)
                for a, c in states:
                    for load, before in ((loads[0], (a - 1, c)), (loads[1], (a, c - 1))):
                        below = best[j].get(before)
                        if load is None or below is None:
                            continue
                        value = max(below, load)
                        if here[a, c] is None or value < here[a, c]:
                            here[a, c] = value
            best[i] = here
        return {("on", "sum"): best[ideals[-1]][self.k, self.l]}

    def by_cbc(self, folder):
        """The integer program of the definitions, any sets; nothing without CBC or in its time."""
        if not shutil.which("cbc") or not 0 < len(self.classes) * (self.k + self.l) <= CHOICES_MOST:
            return {}
        def added(terms):
            whole = {}
            for factor, name in terms:
                whole[name] = whole.get(name, 0) + factor
            return " + ".join(f"{factor!r} {name}" for name, factor in whole.items())
        rows, columns = [], []
        for c in range(len(self.classes)):
            x = [f"x{c}_{d}" for d in range(self.k + self.l)]
            columns += x
            rows.append(" + ".join(x) + " = 1")
        for d in range(self.k + self.l):
            terms = []
            for v in self.nodes:
                c, core = self.class_of[v["id"]], d >= self.k
                terms.append((v["cpuLatency"] if core else v["fpgaLatency"], f"x{c}_{d}"))
                if not core and not v["supportedOnFpga"]:
                    rows.append(f"x{c}_{d} = 0")
            if d < self.k:
                rows.append(added((v["size"], f"x{self.class_of[v['id']]}_{d}") for v in self.nodes) + f" <= {self.memory!r}")
                for u, users in self.users.items():
                    terms += [(self.cost[u], f"i{u}_{d}"), (self.cost[u], f"o{u}_{d}")]
                    for v in users:
                        a, b = self.class_of[u], self.class_of[v]
                        if a != b:
                            rows.append(f"i{u}_{d} - x{b}_{d} + x{a}_{d} >= 0")
                            rows.append(f"o{u}_{d} - x{a}_{d} + x{b}_{d} >= 0")
            rows.append(added(terms) + " - T <= 0")
        path = os.path.join(folder, "p.lp")
        with open(path, "w") as f:
            f.write("Minimize\n T\nSubject To\n " + "\n ".join(rows) + "\nBinary\n " + "\n ".join(columns) + "\nEnd\n")
        if os.path.exists(path + ".sol"):
            os.remove(path + ".sol")
        subprocess.run(["cbc", path, "sec", str(CBC_SECONDS), "solve", "solution", path + ".sol"], capture_output=True)
        first = open(path + ".sol").readline().split() if os.path.exists(path + ".sol") else []
        if first[:1] == ["Infeasible"]:
            return {("off", "sum"): None}
        return {("off", "sum"): float(first[-1])} if first[:1] == ["Optimal"] else {}


# ---- ours beside them ----

def ours(automap, path, sets, rule):
    run = subprocess.run([automap, "place", path, "--contiguous", sets, "--communication", rule, "--json"],
                         capture_output=True, text=True)
    if run.returncode == 4:
        return None, True, None
    if run.returncode:
        sys.exit(f"{path}: {run.stderr}")
    answer = json.loads(run.stdout)
    return answer["value_ms"], answer["proven"], answer


def same(a, b):
    return a is b if a is None or b is None else abs(a - b) <= TOLERANCE * (1 + abs(b))


def recheck(problem, answer, sets, rule):
    """The plan's own value, from its nodes, by the definition."""
    device = [None] * len(problem.classes)
    cores = iter(range(problem.k, problem.k + problem.l))
    accelerators = iter(range(problem.k))
    for d in answer["devices"]:
        number = next(cores if d["kind"] == "host" else accelerators)
        for v in d["nodes"]:
            if device[problem.class_of[v]] not in (None, number):
                return "a color on two devices"
            device[problem.class_of[v]] = number
    if None in device:
        return "a node is nowhere"
    if sets == "on" and not problem.in_a_row(device):
        return "not contiguous"
    value = problem.value(device, rule)
    return None if same(value, answer["value_ms"]) else f"is {value} by the definition"


def main(automap, count=40, first=1):
    counts, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            name, text = make(seed)
            path = os.path.join(folder, "g.json")
            with open(path, "w") as f:
                json.dump(text, f)
            problem = Problem(text)
            judges = {"assignments": problem.by_assignments(), "ideals": problem.by_ideals(), "CBC": problem.by_cbc(folder)}
            for sets, rule in sorted(set().union(*judges.values())):
                value, proven, answer = ours(automap, path, sets, rule)
                wrong = [recheck(problem, answer, sets, rule)] if answer else []
                if answer and answer["bound_ms"] > value * (1 + TOLERANCE):
                    wrong.append(f"bound {answer['bound_ms']}")
                for judge, known in judges.items():
                    if (sets, rule) not in known:
                        continue
                    theirs = known[sets, rule]
                    tally = counts.setdefault((judge, sets, rule), [0, 0, 0])
                    tally[0] += 1
                    tally[1] += same(value, theirs)
                    tally[2] += proven
                    if proven and not same(value, theirs) or value is not None and theirs is None or \
                            None not in (value, theirs) and (value < theirs * (1 - TOLERANCE) or answer["bound_ms"] > theirs * (1 + TOLERANCE)):
                        wrong.append(f"{judge}: {theirs}")
                for what in filter(None, wrong):
                    failed += 1
                    print(f"seed {seed}, {name}, {len(text['nodes'])} nodes, contiguous {sets}, {rule}: ours {value}"
                          f"{', proven' if proven else ''}; {what}")
    for (judge, sets, rule), (asked, equal, proven) in sorted(counts.items()):
        print(f"{judge}, contiguous {sets}, {rule}: {asked} graphs, {equal} equal, {proven} proven by us")
        if judge != "CBC" and not asked == equal == proven:
            failed += 1
            print("  expected all of them equal and proven")
    for judge in ("assignments", "ideals"):
        if not any(asked for (one, *_), (asked, *_) in counts.items() if one == judge):
            failed += 1
            print(f"{judge}: judged nothing")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])) != 0)
