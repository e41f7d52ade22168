#!/usr/bin/env python3
# Serves the coflow with fewest bytes left at one host first.
# $ lightloom policy check share ./share.py
# $ lightloom replay --fabric fabric.yaml --workload mapreduce.yaml --policy random+ecmp --share exec:./share.py
import collections
import json
import sys

hello = json.loads(sys.stdin.readline())
print(json.dumps({"lightloom": 1}), flush=True)
coflows, left = {}, {}

def bottleneck(coflow):
    ends = collections.Counter()
    for src, dst, size in zip(coflows[coflow]["src"], coflows[coflow]["dst"], left[coflow]):
        ends["from", src] += size
        ends["to", dst] += size
    return max(ends.values()), coflow

for line in sys.stdin:
    question = json.loads(line)
    for c in question.get("coflows", []):
        coflows[c["coflow"]], left[c["coflow"]] = c, c["bytes"]
    for c in question.get("ended", []):
        del coflows[c], left[c]
    left.update((c["coflow"], c["bytes"]) for c in question.get("left", []))
    print(json.dumps({"order": sorted(coflows, key=bottleneck)}), flush=True)
