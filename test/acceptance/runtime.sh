#!/usr/bin/env bash
# The runtime: what must hold of programs on real tensors, one command a line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

toy=examples/toy-2x2x2.yaml
million=examples/train-1m-2x2x2.yaml

# N ranks = 1 rank, bytes and memory as predicted.
expect 'eight ranks train as one does' '^verified: 8 ranks .* train as one rank does' meshwright verify $toy
expect 'a million parameters on eight ranks too' '^verified: 8 ranks' meshwright verify $million
expect 'with all state sharded' '^verified: 8 ranks' meshwright verify $million --layout tp=2,pp=1,dp=4,zero=3,mbs=2
expect 'interleaved' '^verified: 8 ranks' meshwright verify $million --layout tp=2,pp=2,vpp=2,mbs=4
expect 'with the plain kernels' '^verified: 8 ranks' meshwright verify $toy --kernels plain
expect_json 'predicted bytes are moved bytes on every axis' \
  'Object.values(it.bytes).every(({ predicted, moved }) => predicted === moved && moved > 0)' \
  meshwright verify $toy --json
expect_json 'the peak of live bytes is that of the program, the arena is within 10 % and 16 MiB' \
  'it.peakBytes.tracked === it.peakBytes.predicted && it.peakBytes.arena <= 1.1 * it.peakBytes.predicted + 2 ** 24' \
  meshwright verify $million --json

# It learns.
last() { meshwright run "$@" --json | tail -n 1; }
expect_json 'eighty steps bring the loss of bytes from 5.6 below 2.9, validated' \
  'it.stopped === "done" && it.losses.at(-1) < 2.9 && Object.values(it.validationLosses).at(-1) < 2.9' \
  last $million --steps 80

# Experts dealt out: tokens counted, moved and back.
expect 'experts over 4 of 8 ranks train as one rank does, bytes and memory under the counts' \
  '^verified: 8 ranks .*ep=4' meshwright verify examples/train-moe-ep4.yaml

# What it refuses.
job='cluster: 1x dgx-h100, batch: { sequences: 64, length: 512 }'
refuse() { printf '{ %s, %s }\n' "$job" "$1" | meshwright run -; }
expect_code 'a model that is too large' 2 'RUN_TOO_LARGE' refuse 'model: llama-3.1-405b'
expect_code 'half precision with loss scaling' 2 'TYPE_NOT_EXECUTED' \
  refuse 'model: { kind: gpt2, layers: 2, hidden: 8, heads: 8, vocab: 16 }, precision: fp16'
expect_code 'data that is not there' 2 'FILE_NOT_FOUND' meshwright run $million --data no-such.txt

expect 'Context ranks train as one: ring, all-to-all, all-gather, hybrid, beside tensor, data and pipeline; bytes and memory as predicted' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/context.test.ts

finish
