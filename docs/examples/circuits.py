#!/usr/bin/env python3
# Lights free ports for the pairs of racks with most bytes left.
# $ lightloom policy check circuits ./circuits.py
# $ lightloom replay --fabric fabric.yaml --workload mapreduce.yaml --policy random+ecmp --circuits exec:./circuits.py
import collections
import json
import sys

hello = json.loads(sys.stdin.readline())
print(json.dumps({"lightloom": 1}), flush=True)
rate = hello["fabric"]["ocs_bps"]

for line in sys.stdin:
    question = json.loads(line)
    now, reserved = question["now_ns"], question.get("reserved", [])
    ends = [r["not_after_ns"] for r in reserved if r["not_after_ns"] > now]
    ins = {r["in"] for r in reserved if r["not_after_ns"] > now}
    outs = {r["out"] for r in reserved if r["not_after_ns"] > now}
    demand = collections.Counter()
    for d in question.get("demand", []):
        demand.update({(p["in"], p["out"]): p["bytes"] for p in d["pairs"]})
    reserve = []
    for (i, o), size in sorted(demand.items(), key=lambda d: (-d[1], d[0])):
        if i not in ins and o not in outs:
            end = now + question["delta_ns"] + int(size * 8.4 / rate * 1e9)
            reserve.append({"in": i, "out": o, "coflow": -1, "not_before_ns": now, "not_after_ns": end})
            ins.add(i), outs.add(o), ends.append(end)
    print(json.dumps({"reserve": reserve, "wake_ns": min(ends, default=0)}), flush=True)
