"""An independent look at solutions of the IOPDDL contest, by its definition
(github.com/asplos-contest/2025, IOPDDL.md): iopddl.py INSTANCE SOLUTION prints the cost, or what is
wrong. Whole numbers throughout."""
import gzip
import json
import sys

FORBIDDEN = 10**17


def evaluate(problem, chosen):
    nodes, edges = problem["nodes"], problem["edges"]
    costs = nodes["costs"]
    if len(chosen) != len(costs):
        return f"{len(chosen)} strategies of {len(costs)} nodes"
    parts = []
    for n, k in enumerate(chosen):
        if not 0 <= k < len(costs[n]):
            return f"node {n} has no strategy {k}"
        parts.append(costs[n][k])
    for (a, b), table in zip(edges["nodes"], edges["costs"]):
        parts.append(table[chosen[a] * len(costs[b]) + chosen[b]])
    if max(parts, default=0) >= FORBIDDEN:
        return "a forbidden cost"
    change = {}
    for (begin, end), usages, k in zip(nodes["intervals"], nodes["usages"], chosen):
        if begin < end:
            change[begin] = change.get(begin, 0) + usages[k]
            change[end] = change.get(end, 0) - usages[k]
    live = 0
    for time in sorted(change):
        live += change[time]
        if live > problem.get("usage_limit", live):
            return f"{live} bytes at {time}, over {problem['usage_limit']}"
    return sum(parts)


def main():
    path, solution = sys.argv[1:]
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    problem = json.load(opened)["problem"]
    with open(solution) as text:
        print(evaluate(problem, json.loads(text.read().splitlines()[-1])))


main()
