#!/usr/bin/env bash
# Breadth: what must hold of models, clusters, layouts, answers and scores, one command a line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tests() { npx vitest run --reporter=dot "$@"; }

# H1: models.
expect 'H1 73 of 73 parameter counts exact; 101 configurations read or refused by name; what reads compiles and is priced' 'Tests .* passed' tests test/conformance/public-models.test.ts
expect 'H1 what makers state of their models: active parameters, FLOPs and cache of a token' 'Tests .* passed' tests packages/core/src/model/published.test.ts
expect 'H1 blocks of every family, sound under every kind of layout' 'Tests .* passed' tests packages/core/src/compile/families.test.ts
expect 'H1 blocks of every family train on 2 to 8 ranks as on one' 'Tests .* passed' tests packages/runtime/src/parity/families.test.ts

# H2: legality.
expect 'H2 every rule of every framework, broken and just passed' 'Tests .* passed' tests packages/core/src/frameworks/rules packages/core/src/layout/legality.test.ts
expect 'H2 500 random layouts x 6 frameworks: the verdict of their own arithmetic' 'Tests .* passed' tests packages/core/src/layout/engines.prop.test.ts
expect 'H2 80 launches of public repositories: the verdict of their frameworks' 'Tests .* passed' tests test/conformance/launches.test.ts
printf 'model: llama-3.1-8b\ncluster: 2x dgx-h100\nbatch: {sequences: 64, length: 4096}\nframework: deepspeed\n' >"$scratch/deepspeed.yaml"
expect_code 'H2 what a framework refuses has its reason and the nearest legal values' 2 'SHARDING_NOT_WITH_PIPELINE  layout.sharding: sharding 2 cannot run with pipeline 2. Use sharding 0 or 1, or pipeline 1' meshwright show "$scratch/deepspeed.yaml" --layout tp=2,pp=2,zero=2

expect 'H2 products of experts cost a launch each where engines run them one by one; eager kernels of experts counted' 'Tests .* passed' tests packages/core/src/cost/launches.test.ts packages/core/src/frameworks/profiles.test.ts

# H3: the examples and the exam, with their numbers.
expect 'H3 every example has its numbers' 'Tests .* passed' tests test/conformance/examples.test.ts
expect 'H3 the exam: three numbers whose product is 512' '^8 x 32 x 2 = 512: tensor 8' meshwright exam --solution
expect 'H3 the exam: tensor stays on NVLink, by these collectives' '^tensor +8 +NVLink 4 +no +reduce-scatter, all-gather +[0-9.]+$' meshwright exam --solution
expect 'H3 the exam: data and its bytes' '^data +2 +InfiniBand 400 Gb/s +yes +all-reduce +[0-9.]+$' meshwright exam --solution
expect 'H3 the exam: why tensor 16 is worse' '^Tensor 16 reaches over InfiniBand 400 Gb/s' meshwright exam --solution
for tensor in 1 2; do
  expect_code "H3 tensor $tensor is refused" 1 'LAYER_DOES_NOT_FIT  layout.tensor: one layer of 12.9 B parameters has 216 GiB of state' meshwright plan examples/exam-512.yaml --layout "tp=$tensor"
done
expect_json 'H3 every layout with tensor 1 and 2 falls by its layer' "it.rejected.LAYER_DOES_NOT_FIT > 0 && it.plans[0].layout.short.startsWith('tp=8,pp=32,dp=2')" meshwright plan examples/exam-512.yaml --json
printf 'devices: 4\nnumbers: 8 x 8 x 8\n' >"$scratch/answers.yaml"
expect_code 'H3 a wrong answer: its first wrong step' 1 '^numbers wrong: 8 x 8 x 8\. It does not work: the fullest GPU needs' meshwright exam --answers "$scratch/answers.yaml"
expect_json 'H3 another seed, another job' "it.schema === 'meshwright.exam/1' && it.seed === 7 && it.questions.length === 12" meshwright exam --seed 7 --json
expect_json 'H3 1T MoE as 8 x 8 x 8: m = 64, 9.9 %' "it.gpus === 512 && it.pipeline.microBatches === 64 && Math.abs(it.pipeline.closedFormShare - 7 / 71) < 1e-12" meshwright show examples/moe-1t-512xh200.yaml --json

# H4: predictions against published runs.
scored="$scratch/score.json"
meshwright score data/runs.csv data/memory.csv --exclude data/exclusions.csv --json >"$scored"
expect_json 'H4 at least 1,100 runs are priced' 'it.overall.rows >= 1100' cat "$scored"
expect_json 'H4 the skipped have a reason' "it.rows.every((row) => row.error !== undefined || row.predictedPeakBytes > 0 || row.skipped !== undefined) && it.skipped['experts-not-priced'] === undefined" cat "$scored"
expect_json 'H4 median at most 8 %, mean at most 12 %' 'it.overall.median <= 0.08 && it.overall.mape <= 0.12' cat "$scored"
expect_json "H4 mean of the sources' means at most 18 %" 'it.bySource.filter((each) => each.rows > 0).reduce((sum, each, _, all) => sum + each.mape / all.length, 0) <= 0.18' cat "$scored"
expect_json 'H4 nearer than a constant rate, and than 6.6, 16.3 and 15.0 %' "[['Narayanan et al. 2021 (SC21) Table 1', 0.066], ['Korthikanti et al. 2022 Table 5', 0.163], ['vTrain validation data, several nodes', 0.15]].every(([source, most]) => it.nullModel.bySource.some((each) => each.source === source && each.ours < Math.min(most, each.mape)))" cat "$scored"
expect_json 'H4 at most 2 % of the runs that ran are said not to fit' "(ran => ran.filter((row) => row.verdict === 'does-not-fit').length <= 0.02 * ran.length)(it.rows.filter((row) => row.error !== undefined))" cat "$scored"
expect_json 'H4 most runs that ran out of memory are said not to fit' "(out => out.length === 8 && out.filter((row) => row.verdict === 'does-not-fit').length >= 5)(it.rows.filter((row) => row.ranOut))" cat "$scored"
expect 'H4 the same of a sample, in the tests' 'Tests .* passed' tests test/e2e/accuracy.test.ts

# H5: placement.
expect 'H5 every preset: tensor innermost, data or pipeline outermost, or the reason' 'Tests .* passed' tests packages/core/src/plan/orders.test.ts
expect_json 'H5 the same of the layout that the search finds: every order, and the usual one is among the best' "(step => step.decision === 'yes' && step.numbers.length >= 2 && step.numbers[0].what === 'step with tensor-data')(it.flow.find((each) => each.step === 'order'))" meshwright explain examples/llama-3.1-70b-64xh100.yaml --json

# H6: scaling.
expect_json 'H6 fixed batch, 8 to 4,096 GPUs: a knee with a named cause' "it.sweep.curves[0].kind === 'strong' && it.sweep.curves[0].knee.gpus >= 8 && it.sweep.curves[0].knee.words.length > 0" meshwright plan examples/llama-3.1-70b-64xh100.yaml --sweep gpus=8..4096 --top 1 --json
expect 'H6 tree below S = N (N - 1 - log2 N) a B, ring above' 'Tests .* passed' tests packages/core/src/cost/tree-or-ring.test.ts

# Fuzz.
expect 'Fuzz: 11,000 mutated models, jobs and layouts (110,000 by npm run test:long): no crash, no hang, no impossible number' 'Tests .* passed' tests test/fuzz

# Answers.
expect 'the smallest cluster for training 70B' '^smallest: [0-9]+ GPUs' meshwright plan examples/llama-3.1-70b-64xh100.yaml --gpus min --top 1
printf 'model: llama-3.1-405b\ncluster: 4x rtx-workstation\nbatch: {sequences: 64, length: 8192}\nlayout: {tensor: 1, sharding: 0}\n' >"$scratch/never.yaml"
expect_code 'no number of devices is enough: said at once, with the reason' 1 'no number of these devices is enough: one layer of one micro-batch' meshwright plan "$scratch/never.yaml" --gpus min
expect 'the least memory in a step that is fast enough' '^least memory in a step of at most [0-9.]+ s, 1.25 x the fastest' meshwright plan examples/llama-2-7b-8xh100.yaml --objective memory --top 1
expect 'the cheapest size' '^cheapest: [0-9]+ GPUs?' meshwright plan examples/llama-2-7b-8xh100.yaml --objective cost --price 2.5
expect 'a recipe beside the search' 'It arrives at tp=8,' meshwright plan examples/llama-3.1-70b-64xh100.yaml --recipe starting-point --top 1
expect 'the recipe of 2026' 'Recipe 2026: ' meshwright plan examples/llama-3.1-70b-64xh100.yaml --recipe 2026 --top 1

# Experts over a grid of their own.
expect 'Mixtral on 64 GPUs: the best layout deals experts out' 'ep=8' meshwright plan examples/mixtral-8x7b-64xh100.yaml --top 1
expect_json 'both grids of the same ranks: 4 ranks of experts, 2 replicas' "it.groups.expert.length === 2 && it.groups.expert[0].length === 4 && it.groups.tensor.length === 4" meshwright show examples/train-moe-ep4.yaml --groups --json

# Layouts: the context axis.
expect 'Context: block level equals operation level, and no bound exceeds it, for every kind' 'Tests .* passed' tests packages/core/src/plan/evaluate/agreement.prop.test.ts
expect 'Context: bytes are the closed forms of ring, all-to-all and all-gather' 'Tests .* passed' tests packages/core/src/compile/laws/context-bytes.test.ts
expect 'Context: each pair of tokens is met once, or the program is refused' 'Tests .* passed' tests packages/core/src/program/verify/context-attention.test.ts
printf 'model: llama-3.1-8b\ncluster: 1x dgx-h100\nbatch: {sequences: 8, length: 131072}\n' >"$scratch/long.yaml"
expect 'Context: a sequence of 131,072 tokens over four ranks' '^context +shift +' meshwright show "$scratch/long.yaml" --layout tp=2,cp=4,ac=full,zero=3

# Layouts: sets of shards (hybrid sharding).
expect 'Sets of shards: gathers stay in the node, shards are summed over nodes once a step' '^data +all-reduce .* InfiniBand' meshwright show examples/llama-3.1-70b-64xh100.yaml --layout tp=1,dp=64,shard=8,zero=3,ac=full
expect 'Sets of shards: one that does not divide is refused with the nearest' 'Use shard 1, 2, 4, 8, 16 or 32' meshwright show examples/llama-3.1-70b-64xh100.yaml --layout tp=1,dp=64,shard=5,zero=3
expect 'Sets of shards: the search is never slower than without them' 'Tests .* passed' tests packages/core/src/plan/shard-sets.test.ts

# Layouts: layers that recompute otherwise than the others.
printf 'model: llama-2-7b\ncluster: 1x dgx-h100\nbatch: {sequences: 64, length: 4096}\n' >"$scratch/some.yaml"
# Steps and fullest stages of layouts, as one JSON array.
steps_of() {
  for layout in "$@"; do meshwright show "$scratch/some.yaml" --layout "tp=1,pp=2,zero=1,$layout" --json; done |
    node -e 'const shown = require("node:fs").readFileSync(0, "utf8").split(/\n(?=\{)/).map(JSON.parse);
      console.log(JSON.stringify(shown.map((it) => ({ seconds: it.step.seconds, bytes: Math.max(...it.memory.stages.map((stage) => stage.deviceBytes)) }))));'
}
expect_json 'Layers: half of them recomputed lies between none and all, in time and in memory' "it[0].seconds < it[1].seconds && it[1].seconds < it[2].seconds && it[0].bytes > it[1].bytes && it[1].bytes > it[2].bytes" steps_of 'ac=none' 'ac=none,layers=0-15:full' 'ac=full'
expect 'Layers: as few recomputed as fit, never slower than all or none' 'Tests .* passed' tests packages/core/src/plan/per-layer.test.ts
printf 'model: llama-2-13b\ncluster: 2x dgx-a100\nbatch: {sequences: 64, length: 20480}\n' >"$scratch/tight.yaml"
expect 'Layers: the search says which' 'ac=none,layers=0-[0-9]+:full' meshwright plan "$scratch/tight.yaml" --layout tp=2,pp=4,cp=1,zero=1 --per-layer --top 1
printf 'model: llama-2-7b\ncluster: 1x dgx-h100\nbatch: {sequences: 64, length: 4096}\nlayout: {layers: [{from: 0, to: 3, sharding: 3}]}\n' >"$scratch/later.yaml"
expect_code 'Layers: what is not priced is refused by name' 2 'LAYOUT_KEY_NOT_YET +layout.layers: sharding of single layers is not priced yet' meshwright show "$scratch/later.yaml"

# Layouts: state in host memory.
expect_json 'Offload: the state is on the host, and the step waits for it' 'it.memory.stages[0].hostBytes > 0 && it.memory.stages[0].partsBytes.optimizer === 0 && it.step.partsSeconds.offload > 0' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=1,zero=3,offload=optimizer --json
expect 'Offload: host GiB beside those of the device' 'on host GiB' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=1,zero=3,offload=optimizer
expect_code 'Offload: weights are refused by name' 2 'VALUE_NOT_YET' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=1,zero=3,offload=weights
expect 'Offload: bytes on the host and over its link are the closed form' 'Tests .* passed' tests packages/core/src/compile/laws/host.prop.test.ts

# Fine-tuning: adapters beside frozen weights.
lora=examples/llama-3.1-70b-lora-8xh100.yaml
expect 'LoRA: programs are sound, bounds hold, block level equals operation level' 'Tests .* passed' tests packages/core/src/plan/bound/bound.prop.test.ts packages/core/src/plan/evaluate/agreement.prop.test.ts
expect 'LoRA: N ranks train adapters as one does; their gradients are finite differences' 'Tests .* passed' tests packages/runtime/src/parity/adapters.test.ts
expect 'LoRA: 70 B fit one node' '^tensor 8 .* 30\.[0-9] of 79\.1 GiB.*: fits$' meshwright show "$lora" --layout tp=8
expect 'LoRA: what is trained' '^Adapters of rank 16 beside all-linear: 207 M of 70\.8 B parameters are trained \(0\.29 %\)' meshwright show "$lora" --layout tp=8
expect 'LoRA: the smallest cluster is 2 GPUs' '^smallest: 2 GPUs' meshwright plan "$lora" --gpus min
expect_json 'LoRA: smallest clusters for training, full fine-tuning and adapters side by side' 'it.workloads.length === 3 && it.workloads[0].size.gpus === it.workloads[1].size.gpus && it.workloads[2].size.gpus === 2 && it.workloads[1].size.gpus > 8' meshwright plan "$lora" --gpus min --top 1 --json
expect 'Fine-tuning: a training job says it too' '^adapters \(lora, rank 16, all-linear\) +40\.0 M +1 ' meshwright plan examples/llama-2-7b-8xh100.yaml --gpus min --top 1
expect 'LoRA: a checkpoint is adapters with their state, and frozen weights' '^A checkpoint is 134\.[0-9] GiB \(2\.70 of adapters at 14 bytes a trained parameter, 131 of frozen weights\)' meshwright show "$lora" --layout tp=8
expect 'LoRA: runs go on bit for bit, on other layouts, and are exported as base and adapters' 'Tests .* passed' tests packages/runtime/src/checkpoint/adapters.test.ts
if python3 -c 'import peft' 2>/dev/null; then
  printf 'name: adapted\nmodel: {kind: llama, layers: 2, hidden: 64, heads: 4, kvHeads: 2, ffn: 128, vocab: 256, positions: 128, tied: false}\ncluster: 1x dgx-h100\nprecision: fp32\nbatch: {sequences: 8, length: 64}\nworkload: {lora: {rank: 4, alpha: 8}}\nlayout: tp=2,dp=4\n' >"$scratch/adapted.yaml"
  meshwright run "$scratch/adapted.yaml" --steps 30 --checkpoint-every 30 --checkpoints "$scratch/adapted" >/dev/null 2>&1
  meshwright checkpoint export "$scratch/adapted.yaml" "$scratch/exported" --checkpoints "$scratch/adapted" >/dev/null 2>&1
  meshwright sample "$scratch/adapted.yaml" --checkpoints "$scratch/adapted" --prompt 'We the people' --tokens 40 --temperature 0 >"$scratch/ours.txt" 2>/dev/null
  python3 test/oracle/exported.py "$scratch/exported" 'We the people' 40 >"$scratch/theirs.txt" 2>/dev/null
  expect "LoRA: PEFT reads what is exported and writes the same text" 'are identical$' diff -s "$scratch/ours.txt" "$scratch/theirs.txt"
else
  printf 'skip  %s\n' "LoRA: PEFT reads what is exported: python3 has no package peft"
fi
printf 'model: mixtral-8x7b\ncluster: 1x dgx-h100\nbatch: {sequences: 64, length: 4096}\nworkload: {lora: {rank: 16}}\n' >"$scratch/experts.yaml"
expect_code 'LoRA: adapters on experts are refused by name' 2 'ADAPTER_NOT_MODELLED  workload.lora.targets: adapters on experts and their router are not modelled' meshwright plan "$scratch/experts.yaml"

# Failures and checkpoints.
expect 'Failures: least is lost at sqrt(2 W M), and played out by chance it comes to the same' 'Tests .* passed' tests packages/core/src/plan/failures.test.ts
expect_json 'Failures: the interval is that of Young, in whole steps' 'Math.abs(it.failures.intervalSeconds / Math.sqrt(2 * it.failures.writeSeconds * it.failures.meanSeconds) - 1) < 1e-9 && it.failures.intervalSteps >= 1 && it.failures.meanSeconds === 50000 * 3600 / 8' meshwright show examples/llama-2-7b-8xh100.yaml --layout zero=3,mbs=2 --mtbf 50000 --restart 300 --storage 10 --json
expect 'Failures: explain asks whether they are rare enough' 'Are failures rare enough that checkpoints cost little' meshwright explain examples/llama-2-7b-8xh100.yaml
expect_code 'Failures: rates that are none are refused' 2 'VALUE_OUT_OF_RANGE +--mtbf' meshwright show examples/llama-2-7b-8xh100.yaml --layout zero=3,mbs=2 --mtbf never

# Layouts: what runs beside compute.
expect_json 'Overlap: what holds up compute is waited for, and nothing is hidden' 'it.step.partsSeconds.data > 0.06 && it.step.hiddenSeconds < 1e-3' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=1,zero=1,overlap=none --json
expect 'Overlap: the layout says what still runs beside compute' 'zero=2,ac=none,overlap=data\+pipeline' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=1,zero=2,overlap=data
expect_code 'Overlap: exchanges of tensor are refused by name' 2 'VALUE_NOT_YET  layout.overlap: tensor is not priced yet' meshwright show examples/llama-2-7b-8xh100.yaml --layout tp=2,overlap=tensor+data
expect_code 'Overlap: sends that hold up compute are refused by name' 2 'VALUE_NOT_YET  layout.overlap: sends between the 2 stages' meshwright show examples/llama-2-7b-8xh100.yaml --layout pp=2,overlap=data
expect 'Overlap: block level and operation level agree whatever overlaps' 'Tests .* passed' tests packages/core/src/plan/evaluate/agreement.prop.test.ts
expect 'Overlap: exchanges that hold up compute train to the same bits' 'Tests .* passed' npx vitest run --reporter=dot packages/runtime/src/parity/overlap.test.ts

finish
