#!/usr/bin/env bash
# The simulator: what must hold of a step in time, its traces and its schedules, one command a line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

toy=examples/toy-2x2x2.yaml
job=examples/llama-3.1-70b-64xh100.yaml
tests() { npx vitest run --reporter=dot "$@"; }

# 1: schedules.
expect 'schedules of zero-bubble and DualPipe: complete, can run, hold and idle as their closed forms' 'Tests .* passed' tests packages/core/src/schedules

expect 'H2 compiled programs of naive, GPipe, 1F1B and interleaved idle as their closed forms' 'Tests .* passed' tests packages/core/src/sim/simulate.prop.test.ts -t 'every stage idles by the closed form'
expect 'H2 compiled programs of ZB-H1 with W <= B, ZB-V with F=B=W and ZB-H2 idle as theirs, others take their golden seconds within bounds' 'Tests .* passed' tests packages/core/src/sim/split-schedules.test.ts
expect 'H2 programs alone on their links: rings, trees, halves, switches, tiers; bytes of ZeRO 0 to 3 on a link' 'Tests .* passed' tests packages/core/src/sim/closed-forms.test.ts
expect_json '1 ZB-V is planned with both levels alike' "it.pipeline.schedule === 'zero-bubble-v' && it.pipeline.chunks === 2" meshwright show $job --layout tp=8,pp=4,mbs=1,ac=full,schedule=zero-bubble-v --json

expect_json '1 DualPipe: every stage holds two of four pieces of the model' "it.pipeline.schedule === 'dualpipe' && it.memory.stages.every((stage) => Math.abs(stage.layers - 40) <= 2)" meshwright show $job --layout tp=8,pp=4,mbs=1,ac=full,schedule=dualpipe --json
expect_code '1 an odd number of stages has no pairs' 2 'STAGES_NOT_EVEN  layout.pipeline: ' meshwright show $job --layout tp=8,pp=5,schedule=dualpipe

# 2: exchanges.
expect 'exchanges: flows are the bytes of each algorithm, choice and protocols as libraries compare them' 'Tests .* passed' tests packages/core/src/collectives
expect 'H2 algorithms and protocols alone on a link take their closed forms' 'Tests .* passed' tests packages/core/src/cost/chosen.test.ts
expect 'exchanges can be forced, or chosen as a library does' '^Collectives by tree, protocol ll128, ' meshwright simulate $toy --exchanges tree --protocol ll128
expect '1 DualPipe trains as one rank does, with the bytes and memory of its program' 'Tests .* passed' tests packages/runtime/src/parity/parity.test.ts -t DualPipe
expect 'H4 orders of PyTorch 2.9.0: GPipe, 1F1B, interleaved, ZB-V, DualPipeV' 'Tests .* passed' tests test/conformance/pytorch-schedules.test.ts

# 3, 4, H1, H3: links as resources, mutual slow-down.
expect 'links: max-min fair, never over their capacity; classes have the times of every rank by itself' 'Tests .* passed' tests packages/core/src/sim/shared packages/core/src/cluster/topology
expect_json 'H1 shared links and slow-down lengthen a step, and by little' "it.timeline.aloneSeconds <= it.timeline.sharedSeconds && it.timeline.sharedSeconds <= it.timeline.seconds && it.timeline.seconds < 1.03 * it.timeline.aloneSeconds" meshwright simulate $job --layout tp=8,pp=4,mbs=1 --micro-batches 16 --json
expect_json 'no link carries more than it can: sharded weights over the network' "it.timeline.links.every((link) => link.bytes <= link.capacity * link.busySeconds * 1.000001) && it.timeline.links[0].load < 1" meshwright simulate examples/mixtral-8x7b-64xh100.yaml --layout tp=1,pp=1,zero=3 --json
expect 'the bottleneck is named' '^Busiest link: card 0.0 > leaf \(nic\), full ' meshwright simulate examples/mixtral-8x7b-64xh100.yaml --layout tp=1,pp=1,zero=3
expect '8 a slow device, a slow link, a card that is gone' '^Disturbed: device 5 20 % slower, nic 3 at 50 %, nic 12 gone: ' meshwright simulate $job --layout tp=8,pp=4,mbs=1 --micro-batches 8 --slow 5=20 --link nic:3=0.5 --link nic:12=gone
expect_json '8 jitter has a seed' "it.timeline.seconds > it.timeline.slowedSeconds" meshwright simulate $job --layout tp=8,pp=4,mbs=1 --micro-batches 8 --jitter 2 --seed 7 --json
expect_code '8 what is not there is said' 2 '^LINK_MISSING  links: nic 99 is not a link' meshwright simulate $toy --link nic:99=0.5

expect 'H1 operation level is block level to 1e-9 in 600 generated cases, split schedules and sets of shards among them' 'Tests .* passed' tests packages/core/src/plan/evaluate/agreement.prop.test.ts
expect 'H1 bounds are never above the evaluation, split schedules among them' 'Tests .* passed' tests packages/core/src/plan/bound
expect 'H1 shared links and slow-down on the example jobs: median at most 2 %' '^Median \+(0\.[0-9]|1\.[0-9]|2\.0) % over ([8-9]|1[0-9]) jobs .*largest \+[0-9.]+ %' node bench/tiers.mjs

# H8: plans are settled by the simulator.
expect_json 'H8 plans stand in the order of the simulator, none below its evaluation' "it.settled.length === it.plans.length && it.settled.every((row, at) => row.simulatedSeconds >= row.evaluatedSeconds && (at === 0 || row.simulatedSeconds >= it.settled[at - 1].simulatedSeconds))" meshwright plan examples/mixtral-8x7b-64xh100.yaml --top 3 --json
expect 'H8 what shared links add stands in the table' 'shared links \+%~' meshwright plan examples/mixtral-8x7b-64xh100.yaml --top 3

expect_json 'H8 split schedules are searched and settled where the layout names one' "it.plans[0].pipeline.schedule === 'zero-bubble-v' && it.settled[0].simulatedSeconds >= it.settled[0].evaluatedSeconds" meshwright plan $job --layout pp=4,mbs=1,schedule=zero-bubble-v --top 2 --json

expect 'H8 the page of accuracy has both tiers by source' '^\| all \| [0-9]+ \|( -?[0-9.]+ \|){8}$' cat docs/accuracy.md

# H3, H5.
expect 'H3 monotone without sharing, the longest path, the steady state is periodic and the bubble share never rises' 'Tests .* passed' tests packages/core/src/sim/simulate.prop.test.ts
expect 'H3 slower links gain < 2 % in 1,000 cases, the largest gain kept; renamed hosts are the same' 'Tests .* passed' tests packages/core/src/sim/shared/shared.prop.test.ts
expect 'the rest of the simulator' 'Tests .* passed' tests packages/core/src/sim/*.test.ts packages/core/src/sim/shared/shared.test.ts
expect 'H5 the figures of the field' 'Tests .* passed' tests test/conformance/field-figures.test.ts

# 6, H7: traces and files.
expect 'H7 the answer: seconds and what the critical path is' '^[0-9.]+ m?s a step~: the critical path is [0-9]+ % ' meshwright simulate $toy
expect_json 'H1 alone the timeline takes as long as the plan says' "Math.abs(it.timeline.aloneSeconds / it.step.seconds - 1) < 1e-9" meshwright simulate $job --layout tp=8,pp=4,mbs=1 --micro-batches 16 --json
expect_json 'the critical path adds up to the step' "Math.abs(it.timeline.criticalPath.parts.reduce((sum, part) => sum + part.seconds, 0) / it.timeline.seconds - 1) < 1e-9" meshwright simulate $job --layout tp=8,pp=4,mbs=1 --micro-batches 16 --json
expect 'H7 a trace for Perfetto' "Wrote $scratch/t.pftrace" meshwright simulate $toy --trace "$scratch/t.pftrace" --ranks all
expect 'H7 a trace for Chrome, compressed' "Wrote $scratch/t.json.gz" meshwright simulate $toy --trace "$scratch/t.json.gz"
expect 'H7 Chakra traces of every rank' "Wrote $scratch/chakra/toy.0.et" meshwright simulate $toy --chakra "$scratch/chakra"
expect_code 'what is there is kept' 2 '^FILE_EXISTS ' meshwright simulate $toy --trace "$scratch/t.pftrace"
expect_code 'a path that cannot be written is an answer, not a stack' 2 '^FILE_NOT_WRITTEN ' meshwright simulate $toy --trace "$scratch/no/such/t.json"
expect 'H7 other decoders read them back: slices, flows, counters, bytes' 'Tests .* passed' tests packages/core/src/export
expect 'H7 64 ranks: the same slices and busy time in both formats, by decoders that are not ours' 'Tests .* passed' tests packages/core/src/export/many-ranks.test.ts
if python3 -c 'import perfetto' 2>/dev/null; then
  meshwright simulate $toy --trace "$scratch/all.pftrace" --ranks all >/dev/null 2>&1
  meshwright simulate $toy --trace "$scratch/all.json.gz" --ranks all >/dev/null 2>&1
  expect "H7 Perfetto's own message classes read the same slices" '^8 ranks, .*: the same in both formats' python3 test/oracle/traces.py "$scratch/all.pftrace" "$scratch/all.json.gz"
else
  printf 'skip  %s\n' "H7 Perfetto's own message classes: python3 has no package perfetto"
fi
expect 'the figure of a timeline draws weight parts apart' 'Tests .* passed' tests packages/figures/src/timeline packages/figures/src/gallery/timeline.test.tsx
expect 'H7 the command, and Python on the snapshot of memory' 'Tests .* passed' tests test/e2e/simulate.test.ts

finish
