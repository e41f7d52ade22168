#!/bin/sh
# Eight runs of two policies, in pairs; the same runs again from their manifest; another policy, compared with them.
set -e
lightloom replay --trace synthetic --coflows 10 --fabric fabric.yaml --policy random+ecmp,crosslayer+sunflow \
  --repeat 8 --interleave --report-dir first
lightloom rerun first
lightloom replay --trace synthetic --coflows 10 --fabric fabric.yaml --policy random+ecmp+sunflow \
  --repeat 8 --report-dir second
lightloom compare first second
