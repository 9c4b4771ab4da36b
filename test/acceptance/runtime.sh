#!/usr/bin/env bash
# The runtime: what must hold of programs on real tensors, one command a line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

toy=examples/toy-2x2x2.yaml
million=examples/train-1m-2x2x2.yaml

# JSON lines: one a step, the report last.
last() { "$@" --json | tail -n 1; }

# N ranks = 1 rank, bytes and memory as predicted.
expect 'eight ranks train as one does' '^verified: 8 ranks .* train as one rank does' meshwright verify $toy
expect 'a million parameters on eight ranks too' '^verified: 8 ranks' meshwright verify $million
expect 'with all state sharded' '^verified: 8 ranks' meshwright verify $million --layout tp=2,pp=1,dp=4,zero=3,mbs=2
expect 'interleaved' '^verified: 8 ranks' meshwright verify $million --layout tp=2,pp=2,vpp=2,mbs=4
expect 'with vectors that give the same bits on every machine' '^verified: 8 ranks' meshwright verify $toy --kernels wasm-portable
expect 'with the plain kernels' '^verified: 8 ranks' meshwright verify $toy --kernels plain
expect_json 'predicted bytes are moved bytes on every axis' \
  'Object.values(it.bytes).every(({ predicted, moved }) => predicted === moved && moved > 0)' \
  last meshwright verify $toy
expect_json 'the peak of live bytes is that of the program, the arena is within 10 % and 16 MiB' \
  'it.peakBytes.tracked === it.peakBytes.predicted && it.peakBytes.arena <= 1.1 * it.peakBytes.predicted + 2 ** 24' \
  last meshwright verify $million

# Collectives by named algorithms; nodes of four, so that eight data ranks have two tiers.
nodes=$scratch/two-nodes.yaml
sed 's/1x dgx-h100/2x rtx-workstation/' $million > "$nodes"
for algorithm in tree halving-doubling hierarchical direct; do
  expect "eight ranks by $algorithm train as one does" '^verified: 8 ranks' \
    meshwright verify "$nodes" --layout tp=1,pp=1,dp=8,mbs=2,zero=0 --steps 3 --exchanges $algorithm
done
expect 'shards by two tiers too, in the bytes of the program' '^verified: 8 ranks' \
  meshwright verify "$nodes" --layout tp=1,pp=1,dp=8,mbs=2,zero=3 --steps 3 --exchanges hierarchical
expect_code 'refuses an algorithm that does not run here' 2 'ring, tree, halving-doubling, hierarchical, direct' \
  meshwright run $toy --exchanges in-switch

# State in host memory under bf16 weights: bytes and memory of both are the program's.
mixed=$scratch/bf16.yaml
sed 's/precision: fp32/precision: bf16/' $million > "$mixed"
expect 'masters and moments in host memory under bf16 weights' '^verified: 8 ranks' \
  meshwright verify "$mixed" --layout tp=2,pp=1,dp=4,zero=3,mbs=2,offload=optimizer --steps 3

# It learns.
expect_json 'eighty steps bring the loss of bytes from 5.6 below 2.9, validated' \
  'it.stopped === "done" && it.losses.at(-1) < 2.9 && Object.values(it.validationLosses).at(-1) < 2.9' \
  last meshwright run $million --steps 80

# Experts dealt out: tokens counted, moved and back.
expect 'experts over 4 of 8 ranks train as one rank does, bytes and memory under the counts' \
  '^verified: 8 ranks .*ep=4' meshwright verify examples/train-moe-ep4.yaml

# It stops, goes on and writes.
folder=$scratch/checkpoints
expect 'checkpoints on the way' 'The checkpoint of step 4 is in' \
  meshwright run $toy --steps 4 --checkpoint-every 2 --checkpoints "$folder"
expect 'the last one is whole' '^2 checkpoints in .* step 4, is whole' meshwright checkpoint show $toy --checkpoints "$folder"
resume() { meshwright resume $toy --checkpoints "$folder" "$@" --json | tail -n 1; }
expect_json 'goes on from it' 'it.stopped === "done" && it.steps === 2 && it.checkpoint.step === 6' resume --steps 6
expect_json 'under another layout too' 'it.stopped === "done" && it.steps === 2 && it.checkpoint.step === 8' \
  resume --steps 8 --layout tp=2,pp=1,dp=4,zero=3,schedule=none
expect_code 'does not write over a run' 2 'FILE_EXISTS' meshwright run $toy --checkpoints "$folder"
expect 'exports weights under Hugging Face names' '^[0-9]+ tensors of step 8' \
  meshwright checkpoint export $toy "$scratch/weights" --checkpoints "$folder"
expect 'starts from them' '^done: 1 step' meshwright run $toy --steps 1 --from "$scratch/weights"
sed 's|^model: .*|model: weights/config.json|' $toy >"$scratch/again.yaml"
expect 'its config.json is the very model' '^done: 1 step' meshwright run "$scratch/again.yaml" --steps 1 --from "$scratch/weights"
printf '{"process":%s,"host":"%s","began":""}' 1 elsewhere >"$folder/run.lock"
expect_code 'a folder that another run writes into' 2 'FOLDER_IN_USE' meshwright resume $toy --steps 9 --checkpoints "$folder"
rm "$folder/run.lock"
meshwright run $million --steps 2 --checkpoints "$scratch/million" >/dev/null
expect_json 'writes text' 'it.text.startsWith("We ") && it.text.length > 3' \
  meshwright sample $million --checkpoints "$scratch/million" --prompt 'We ' --tokens 8 --json
head -c 4 /dev/zero >"$folder/step-00000008/rank-0000.m.safetensors"
expect_code 'refuses a damaged checkpoint' 2 'CHECKPOINT_DAMAGED' meshwright resume $toy --steps 9 --checkpoints "$folder"

# OpenBLAS where it is there.
if node -e 'import("@meshwright/runtime").then(({ findOpenBlas }) => process.exit(findOpenBlas().kind === "found" ? 0 : 1))'; then
  expect 'eight ranks train as one does with OpenBLAS' '^verified: 8 ranks' meshwright verify $million --kernels openblas
else
  echo 'not run: OpenBLAS is not on this machine'
fi
without_blas() { MESHWRIGHT_OPENBLAS=/nowhere/libopenblas.so meshwright "$@"; }
expect_code 'OpenBLAS that is not there' 2 'KERNELS_MISSING' without_blas run $toy --steps 1 --kernels openblas

# It is measured.
expect 'this machine is measured as a cluster' 'shapes of [0-9]+ kernels and [0-9]+ exchanges measured' \
  meshwright calibrate --here --ranks 2 --steps 2 --output "$scratch/here.yaml"
small='model: { kind: gpt2, layers: 2, hidden: 64, heads: 4, ffn: 256, vocab: 256, positions: 64 }, precision: fp32'
printf '{ name: measured, %s, cluster: "%s", batch: { sequences: 4, length: 64 }, layout: "tp=2,mbs=2" }\n' \
  "$small" "$scratch/here.yaml" >"$scratch/measured.yaml"
expect 'a run on it ends with predicted against measured seconds' '^A step is predicted to take [0-9.]+ ms on the calibrated machine' \
  meshwright run "$scratch/measured.yaml" --steps 3
meshwright run "$scratch/measured.yaml" --steps 3 --json >"$scratch/run.json"
expect_json 'a simulation is laid over the run' 'it.calibrated && it.kinds.length > 10 && it.measuredSeconds > 0' \
  meshwright simulate "$scratch/measured.yaml" --against "$scratch/run.json" --json
expect_code 'a file that is no run' 2 'RUN_UNREADABLE' \
  meshwright simulate "$scratch/measured.yaml" --against "$scratch/measured.yaml"

# What it refuses.
job='cluster: 1x dgx-h100, batch: { sequences: 64, length: 512 }'
refuse() { printf '{ %s, %s }\n' "$job" "$1" | meshwright run -; }
expect_code 'a model that is too large' 2 'RUN_TOO_LARGE' refuse 'model: llama-3.1-405b'
expect_code 'half precision with loss scaling' 2 'TYPE_NOT_EXECUTED' \
  refuse 'model: { kind: gpt2, layers: 2, hidden: 8, heads: 8, vocab: 16 }, precision: fp16'
printf '\377\376text' >"$scratch/latin.txt"
expect_code 'text that is not UTF-8' 2 'DATA_UNREADABLE' meshwright run $million --data "$scratch/latin.txt"
: >"$scratch/empty.txt"
expect_code 'an empty text' 2 'DATA_TOO_SHORT' meshwright run $million --data "$scratch/empty.txt"
printf '{}' >"$scratch/tokenizer.json"
expect_code 'a tokenizer that is none' 2 'TOKENIZER_UNREADABLE' meshwright run $million --tokenizer "$scratch/tokenizer.json"
expect_code 'data that is not there' 2 'FILE_NOT_FOUND' meshwright run $million --data no-such.txt

expect 'Context ranks train as one: ring, all-to-all, all-gather, hybrid, beside tensor, data and pipeline; bytes and memory as predicted' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/context.test.ts

expect 'every pair of strategies in 40 drawn layouts, each as one rank; 25 planted faults caught, 24 by the verifier too' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/generated.test.ts packages/runtime/src/parity/faults.test.ts

expect 'Sets of shards train as one rank: ZeRO-1 to 3, beside tensor, pipeline, context and experts; bytes and memory as predicted' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/shard-sets.test.ts

expect 'State in host memory trains as on the device, in host bytes as predicted; copies that are left out are refused' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/offload.test.ts

expect_code 'more ranks than heads' 2 'HEADS_NOT_DIVISIBLE' meshwright run $million --layout tp=8,pp=1,dp=1
expect 'the gradient of each kernel by finite differences' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/kernels/gradients.test.ts packages/runtime/src/kernels/context-gradients.test.ts
expect 'forward, gradients and AdamW of PyTorch where it is there' 'Tests .* (passed|skipped)' npx vitest run --reporter=dot test/e2e/oracle.test.ts

# It breaks, in every number of ways that is promised.
long() { MESHWRIGHT_LONG=1 npx vitest run --reporter=verbose "$@"; }
expect '2,000 mutations of a checkpoint: refused in words, or what the sound one holds' '✓.*2000 damaged or forged checkpoints' \
  long packages/runtime/src/checkpoint/damage.test.ts
expect '50 random instants: report, no torn checkpoint, resume' '✓.*report, no torn checkpoint, resume \(49\)' \
  long packages/runtime/src/supervise/supervise.test.ts
expect 'the shipped example has the loss of one rank at each of 100 steps' '✓.*the loss of one rank at every step' \
  long test/e2e/learns.test.ts
expect 'experts, context and calibrated kinds of work have rows of their own on this machine' '^ *latent-attention: .*' \
  cat "$scratch/here.yaml"

finish
