"""doctor_kept.py AUTOMAP DIR: automap doctor against the answers of DIR, which tests/ref/doctor/measure.py wrote
when they agreed with what is known of the programs and XLA, given the changes, did as was planned: kind, cause,
verdict and line of each collective, what the doctor advises, each change and the bytes it leaves; the plan of all changes is no worse
than that of one. Prints k of n; 0 when all are right."""
import json, pathlib, subprocess, sys

automap, where = sys.argv[1], pathlib.Path(sys.argv[2])
answers = json.loads((where / "answers.json").read_text())


def faults_of(name, answer):
    cmd = [automap, "doctor", where / f"{name}.after.hlo.gz", "--before", where / f"{name}.before.hlo.gz", "--json"]
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode:
        return [r.stderr.strip()]
    whole = json.loads(r.stdout)
    found = whole["collectives"]
    got = {"collectives": sorted([c["kind"], c["cause"], c["verdict"], c.get("line_of_cause", {}).get("line", 0)]
                                 for c in found),
           "cures": sorted({c["cure"] for c in found if "cure" in c}),
           "changes": sorted(map(list, {c["planned"]["change"]: c["planned"]["bytes"]
                                        for c in found if "planned" in c}.items()))}
    faults = [f"{k}: found {got[k]}, expected {answer[k]}" for k in answer if got[k] != answer[k]]
    planned, together = [c["planned"] for c in found if "planned" in c], whole.get("planned_together")
    if planned and not together:
        faults.append("changes, and no plan of them together")
    for k, better in (("step_saves_ms", max), ("communication_ms", min)):
        best = better((p[k] for p in planned), default=None)
        if together and planned and abs(better(best, together[k]) - together[k]) > 1e-9:
            faults.append(f"{k}: {together[k]} with all changes together, {best} with one")
    return faults


right = 0
for name, answer in answers.items():
    faults = faults_of(name, answer)
    right += not faults
    for fault in faults:
        print(f"{name}: {fault}")
print(f"{right} of {len(answers)}")
sys.exit(not answers or right < len(answers))
