#!/usr/bin/env python3
# Routes each new row over the path whose fullest link has fewest of them.
# $ lightloom policy check route ./route.py
# $ lightloom replay --fabric fabric.yaml --workload mapreduce.yaml --policy random+ecmp --route exec:./route.py
import json
import sys

hello = json.loads(sys.stdin.readline())
print(json.dumps({"lightloom": 1}), flush=True)
racks = hello["fabric"]["host_rack"]
paths = {}  # by racks

for line in sys.stdin:
    question = json.loads(line)
    for pair in question.get("paths", []):
        paths[pair["from"], pair["to"]] = pair["paths"]
    route, given = [], [0] * len(hello["fabric"]["links"])  # rows by link
    for row in question["rows"]:
        options = paths[racks[row["src"]], racks[row["dst"]]]
        best = min(options, key=lambda p: (max(given[l] for l in p["links"]), len(p["links"]), p["path"]))
        for link in best["links"]:
            given[link] += 1
        route.append(best["path"])
    print(json.dumps({"route": route}), flush=True)
