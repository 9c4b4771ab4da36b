#!/usr/bin/env bash
# The studio (issue 6): each line is one thing that must hold, with the command that shows it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

toy=examples/toy-2x2x2.yaml
tests() { npx vitest run --maxWorkers=1 "$@"; }

# 1, H2, H5: the step-through figure, from Node.
expect 'H2 every operation of a program is told once; bytes at every step are those of the program and of the closed forms' 'Tests .* passed' tests packages/figures/src/steps packages/figures/src/gallery
expect 'H5 figure steps draws a frame' '\(3 of [0-9]+\)' meshwright figure steps $toy --svg --step 3
expect 'H5 figure steps draws all phases for print' '<svg' meshwright figure steps $toy --svg
expect 'H5 figure waterfall' '<svg' meshwright figure waterfall $toy --svg
expect 'H5 figure memory, a bar for each stage' 'stage 1' meshwright figure memory $toy --svg
expect 'H5 figure memory-over-time' 'throughout: ' meshwright figure memory-over-time $toy --svg --stage 1
expect 'H5 figure map' 'Rank 0 shares its data group' meshwright figure map $toy --svg --axis data
expect 'H5 the map says what crosses each link' '(inside a host|between hosts), [^:]*: [0-9.,]+ [KMG]?i?B a rank and step' meshwright figure map $toy --svg --axis data
expect 'H5 figure ranking' 'no other plan is both faster and smaller' meshwright figure ranking examples/gpt2-8xa100.yaml --svg
expect_json 'H2 the last step has sent what the byte ledger says' 'it.steps.at(-1).lists.map((list) => list.sent).join() === "3088,3076"' meshwright figure steps $toy --json
expect 'H2 the closed forms agree' 'Bytes counted in the program equal the closed forms' meshwright figure steps $toy
expect_code 'a frame that is not there' 2 'VALUE_OUT_OF_RANGE .*frame 99999 is beyond' meshwright figure steps $toy --svg --step 99999

# H1, H2, H4, H5: the page, in Chromium: journeys by mouse and by keys, axe, links, drops, identical markup, a real run.
expect 'H1 H2 H4 H5 journeys in Chromium' 'Tests .* passed' tests test/e2e/studio.test.ts
expect 'H1 H2 a journey through every view by keys and by mouse, at 1280 and 390 pixels, light and dark, with and without motion' 'Tests .* passed' tests test/e2e/journeys.test.ts
expect 'H4 links: opened as they were made, other versions and damage explained' 'Tests .* passed' tests packages/studio

expect 'a run over the simulated step: the same operations on the same lanes, or explained' 'Tests .* passed' tests packages/studio/src/engine/overlay.test.ts
expect 'a run replayed: held, sent and received at every step what the program says, in the order of time' 'Tests .* passed' tests test/conformance/replay.test.ts

# H6: the server.
expect 'H6 foreign hosts and origins, tokens, paths, 10,000 requests, slow clients, a run behind one that was stopped' 'Tests .* passed' tests packages/cli/src/serve
expect_code 'a port that is none' 2 'VALUE_OUT_OF_RANGE' meshwright serve --port 70000

# H3: budgets, printed. Seconds depend on what else the machine does, so only the bytes decide.
expect 'H3 budgets are measured' 'of [0-9]+ budgets hold$' npm run --silent bench:studio

finish
