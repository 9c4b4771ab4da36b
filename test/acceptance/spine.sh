#!/usr/bin/env bash
# The spine: what must hold of the planner, the program and the command, one command a line. Takes some minutes: two
# lines clone the repository and do what a stranger does. `SPINE_FRESH=0` leaves those two out.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

job=examples/llama-3.1-70b-64xh100.yaml
seven=examples/llama-2-7b-8xh100.yaml
tests() { npx vitest run --reporter=dot "$@"; }
bench() { BENCH_EVERY="${BENCH_EVERY:-1}" node bench/plan.mjs; }
figure_of() { sed -nE "s/^$1: ([0-9.,]+).*/\1/p" "$scratch/bench.txt" | tr -d ,; }
at_least() { awk -v have="$(figure_of "$1")" -v want="$2" 'BEGIN { print (have != "" && have + 0 >= want) ? "yes" : "no: " have }'; }
at_most() { awk -v have="$(figure_of "$1")" -v want="$2" 'BEGIN { print (have != "" && have + 0 <= want) ? "yes" : "no: " have }'; }

# H1, H2: a fresh clone.
fresh() {
  local folder="$scratch/$1"
  git clone -q . "$folder" && (cd "$folder" && "${@:2}")
}
if [ "${SPINE_FRESH:-1}" = 1 ]; then
  expect 'H1 npm start on a fresh clone ends with the 70B plan' '^#1 is [0-9.]+ % ahead of #2: .+' fresh start npm start
  expect 'H2 npm test on another fresh clone is green' '^[0-9]+ passed, 0 failed' fresh test npm test
fi
expect 'H1 three numbers, step time, memory' '^best: tensor [0-9]+ · pipeline [0-9]+ · data [0-9]+.* s/step~, [0-9.]+ of 79\.1 GiB' meshwright plan $job
expect 'H1 the link of the tensor axis' '^tensor: NVLink 4, inside the node; .* a rank and step\.$' meshwright plan $job
expect 'H1 the link of the data axis' '^data: InfiniBand 400 Gb/s, between nodes; ' meshwright plan $job
expect 'H1 the optimum is proven' 'No layout of this space that fits is faster \(proven by bounds\)' meshwright plan $job

# H3: the laws, as properties.
expect 'H3 every law of the field, on generated models and layouts' 'Tests .* passed' tests packages/core/src/compile packages/core/src/schedules packages/core/src/mesh

# H4: numbers of the field.
expect_json 'H4 7B on eight H100: DDP does not fit' "it.memory.verdict === 'does-not-fit' && Math.round((it.memory.stages[0].partsBytes.weights + it.memory.stages[0].partsBytes.gradients + it.memory.stages[0].partsBytes.optimizer) / 1e8) === 1078" meshwright show $seven --layout tp=1,pp=1,dp=8,zero=0 --json
expect 'H4 112 GB with bf16 gradients, 126 with fp32, per 7e9 parameters' 'Tests .* passed' tests packages/core/src/compile/laws/numbers.test.ts -t '112 GB'
for zero in 1 2 3; do
  expect "H4 7B on eight H100: ZeRO-$zero is priced" "data 8 .* s/step~, .* fits$" meshwright show $seven --layout tp=1,pp=1,dp=8,zero=$zero,ac=full
done
expect_json 'H4 70B under FSDP on 64: 17.6 GB of state, fits' "it.memory.verdict === 'fits' && Math.abs((it.memory.stages[0].parameters * 16) / 64 - 17.6e9) < 0.1e9" meshwright show $job --layout tp=1,pp=1,dp=64,zero=3,ac=full --json
expect_json 'H4 TP 8 x PP 8: the mean of the GPUs is 1/64 within 1 %, each stage printed' "it.memory.stages.length === 8 && Math.abs(it.memory.stages.reduce((sum, stage) => sum + stage.parameters, 0) / 8 / (70.55e9 / 64) - 1) < 0.01" meshwright show $job --layout tp=8,pp=8,dp=1 --json
expect 'H4 the worked program, P0 by axis' '^P0 +4 +1,672 +324 +1,092 +3,088$' meshwright program verify examples/toy-2x2x2.yaml
expect 'H4 the worked program, P1 by axis' '^P1 +4 +1,628 +324 +1,124 +3,076$' meshwright program verify examples/toy-2x2x2.yaml
expect 'H4 the worked program, whole step' '^24,656 bytes are sent in a step' meshwright program verify examples/toy-2x2x2.yaml
expect_json 'H4 groups of 2 x 2 x 2' "JSON.stringify([it.groups.tensor[0], it.groups.data[0], it.groups.pipeline[0]]) === '[[0,1],[0,2],[0,4]]'" meshwright show examples/toy-2x2x2.yaml --groups --json
expect 'H4 bubbles: 47 % and 18 %, 11 % against 30 %' 'Tests .* passed' tests packages/core/src/schedules

# H5: the interpreter.
expect 'H5 24 layouts: parity, bytes and memory; finite differences' 'Tests .* passed' tests packages/runtime/src/parity packages/runtime/src/train packages/runtime/src/kernels
expect 'H5 six planted faults are caught by parity' 'Tests .* passed' tests packages/runtime/src/parity/faults.test.ts
expect 'H5 six planted faults are refused by the verifier' 'Tests .* passed' tests packages/core/src/program/verify

# H6: block level, operation level, bounds, forms.
expect 'H6 block level equals operation level on 300 cases' 'Tests .* passed' tests packages/core/src/plan/evaluate
expect 'H6 a bound never exceeds its evaluation' 'Tests .* passed' tests packages/core/src/plan/bound
expect 'H6 text and JSON forms round-trip' 'Tests .* passed' tests packages/core/src/program/text packages/core/src/program/json test/conformance

# H7: speed. Processor time of one thread, so that other work on the machine counts less.
bench >"$scratch/bench.txt"
cat "$scratch/bench.txt"
expect 'H7 bound tier >= 100,000 layouts/s' '^yes$' at_least bound 100000
expect 'H7 evaluate tier >= 5,000 layouts/s' '^yes$' at_least evaluate 5000
expect 'H7 search with proof < 3 s' '^yes$' at_most 'search with proof' 2.999
expect 'H6 median bound/evaluate >= 0.9' '^yes$' at_least 'bound over evaluate, median' 0.9
expect 'H6 bound <= evaluate' '^yes$' at_most 'bound over evaluate, largest' 1.000000001
expect 'H6 at most 20 % of the layouts evaluated' '^yes$' at_most evaluated 20

# H8: bad input.
expect 'H8 broken job files and configs: code, line and caret' 'Tests .* passed' tests packages/core/src/io
printf 'model: llama-3.1-70b\ncluster: 8x dgx-h10\nbatch: {sequences: 512, length: 8192}\n' >"$scratch/unknown.yaml"
expect_code 'H8 exit 2 with place and suggestion' 2 'unknown.yaml:2:10  CLUSTER_PRESET_UNKNOWN  .*Did you mean dgx-h100\?' meshwright plan "$scratch/unknown.yaml"
expect_code 'an unknown option is bad input' 2 "unknown option '--paln'" meshwright --paln

# H9: the largest run of 2021.
expect 'H9 predicted TFLOP/s per GPU of the 1T run' ' and [0-9]+ TFLOP/s per GPU~, HFU [0-9.]+ %' meshwright show examples/narayanan-1t.yaml
expect 'H9 beside the published 163 and 52 % in the README' '163.*52 %' cat README.md

# The command and the packages.
expect 'the command says its version' '^[0-9]+\.[0-9]+\.[0-9]+$' meshwright --version
expect 'the command explains itself' '^Usage: meshwright' meshwright --help
expect 'explain ends beside the search' 'What does the search over all layouts say' meshwright explain $seven
expect 'figure exchanges draws eight GPUs' '<svg' meshwright figure exchanges examples/toy-2x2x2.yaml --svg
expect 'figure timeline draws a step' '<svg' meshwright figure timeline examples/toy-2x2x2.yaml --svg
expect 'the packages work outside this repository' '^[0-9]+ passed, 0 failed$' node tools/pack-check.mjs

finish
