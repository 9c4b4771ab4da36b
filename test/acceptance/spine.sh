#!/usr/bin/env bash
# The spine: what must hold of the planner, the program and the command, one command a line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The command.
expect 'the command says its version' '^[0-9]+\.[0-9]+\.[0-9]+$' meshwright --version
expect 'the command explains itself' '^Usage: meshwright' meshwright --help
expect_code 'an unknown option is bad input' 2 "unknown option '--paln'" meshwright --paln

# The packages.
expect 'the packages work outside this repository' '^[0-9]+ passed, 0 failed$' node tools/pack-check.mjs

finish
