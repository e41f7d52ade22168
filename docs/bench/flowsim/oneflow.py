"""Writes a trace of N one-flow coflows of web search sizes on 150 ports of 1 Gb/s: oneflow.py N LOAD."""
import random
import sys

# bytes, and the part of flows with at most as many
STEPS = [(1, 0), (10e3, .15), (20e3, .2), (30e3, .3), (50e3, .4), (80e3, .53), (200e3, .6), (1e6, .7), (2e6, .8),
         (5e6, .9), (10e6, .97), (30e6, 1)]
MEAN = 1.711e6


def size(u):
    for (a, p), (b, q) in zip(STEPS, STEPS[1:]):
        if u <= q:
            return a + (b - a) * (u - p) / (q - p)


n, load, r, t = int(sys.argv[1]), float(sys.argv[2]), random.Random(43), 0
gap = MEAN * 8 / 1e9 / load / 150 * 1e3  # milliseconds
print(150, n)
for i in range(n):
    t += r.expovariate(1 / gap)
    a, b = r.randrange(150), r.randrange(149)
    b += b >= a
    print(i + 1, int(t), 1, a, 1, f'{b}:{max(size(r.random()) / 1e6, 1e-6):.6f}')
