"""doctor_kept.py AUTOMAP DIR: automap doctor against the answers of DIR, which tests/ref/doctor/measure.py wrote
when they agreed with what is known of the programs and XLA, given the changes, did as was planned: kind, cause,
verdict and line of each collective, what the doctor advises, each change and the bytes it leaves. Prints k of n; 0 when all are right."""
import json, pathlib, subprocess, sys

automap, where = sys.argv[1], pathlib.Path(sys.argv[2])
answers = json.loads((where / "answers.json").read_text())


def faults_of(name, answer):
    cmd = [automap, "doctor", where / f"{name}.after.hlo.gz", "--before", where / f"{name}.before.hlo.gz", "--json"]
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode:
        return [r.stderr.strip()]
    found = json.loads(r.stdout)["collectives"]
    got = {"collectives": sorted([c["kind"], c["cause"], c["verdict"], c.get("line_of_cause", {}).get("line", 0)]
                                 for c in found),
           "cures": sorted({c["cure"] for c in found if "cure" in c}),
           "changes": sorted(map(list, {c["planned"]["change"]: c["planned"]["bytes"]
                                        for c in found if "planned" in c}.items()))}
    return [f"{k}: found {got[k]}, expected {answer[k]}" for k in answer if got[k] != answer[k]]


right = 0
for name, answer in answers.items():
    faults = faults_of(name, answer)
    right += not faults
    for fault in faults:
        print(f"{name}: {fault}")
print(f"{right} of {len(answers)}")
sys.exit(not answers or right < len(answers))
