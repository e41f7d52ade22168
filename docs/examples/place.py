#!/usr/bin/env python3
# Places each job in the racks with most free slots.
# $ lightloom policy check place ./place.py
# $ lightloom replay --fabric fabric.yaml --workload mapreduce.yaml --policy random+ecmp --place exec:./place.py
import json
import sys

racks = json.loads(sys.stdin.readline())["fabric"]["host_rack"]
print(json.dumps({"lightloom": 1}), flush=True)
free, waiting = {}, {}  # slots by host, jobs by id

for line in sys.stdin:
    question, place = json.loads(line), []
    free.update((f["host"], f["slots"]) for f in question.get("free", []))
    waiting.update((j["id"], j) for j in question.get("jobs", []))
    for job in question.get("gone", []):
        del waiting[job]
    for job in sorted(waiting):
        in_rack = {r: sum(n for h, n in free.items() if racks[h] == r) for r in set(racks)}
        order = sorted(free, key=lambda h: (-in_rack[racks[h]], racks[h], h))
        left, hosts = dict(free), []
        for task in (t for s in waiting[job].get("stages", []) for t in s["tasks"]):
            hosts += [h for h in order if left[h] >= task.get("slots", 1)][:1] or [None]
            left[hosts[-1]] = left.get(hosts[-1], 0) - task.get("slots", 1)
        if None not in hosts:
            free = left
            place.append({"job": job, "hosts": hosts})
    for placed in place:
        del waiting[placed["job"]]
    print(json.dumps({"place": place}), flush=True)
