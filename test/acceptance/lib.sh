# Checks for the acceptance scripts. A script sources this file, calls `expect`, `expect_json` and `expect_code`, and ends
# with `finish`. Commands run in the repository's root; `meshwright` is the built command.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 70
node tools/ready.mjs || exit 70

passed=0
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

meshwright() { node packages/cli/bin/meshwright.js "$@"; }

# ok NAME / not_ok NAME DETAIL: counts and prints one result.
ok() {
  passed=$((passed + 1))
  printf 'ok    %s\n' "$1"
}
not_ok() {
  failed=$((failed + 1))
  printf 'FAIL  %s\n' "$1"
  printf '%s\n' "$2" | head -n 20 | sed 's/^/      /'
}

# expect NAME PATTERN COMMAND...: the command ends with 0 and what it writes (stdout and stderr) has a line that matches
# the extended regular expression.
expect() {
  local name=$1 pattern=$2 output code
  shift 2
  output=$("$@" 2>&1)
  code=$?
  if [ "$code" -ne 0 ]; then
    not_ok "$name" "exit $code from: $*"$'\n'"$output"
  elif grep -Eq -- "$pattern" <<<"$output"; then
    ok "$name"
  else
    not_ok "$name" "no line matches: $pattern"$'\n'"$output"
  fi
}

# expect_code NAME CODE PATTERN COMMAND...: the command ends with CODE and what it writes matches.
expect_code() {
  local name=$1 wanted=$2 pattern=$3 output code
  shift 3
  output=$("$@" 2>&1)
  code=$?
  if [ "$code" -ne "$wanted" ]; then
    not_ok "$name" "exit $code, expected $wanted, from: $*"$'\n'"$output"
  elif grep -Eq -- "$pattern" <<<"$output"; then
    ok "$name"
  else
    not_ok "$name" "no line matches: $pattern"$'\n'"$output"
  fi
}

# expect_json NAME EXPRESSION COMMAND...: stdout is one JSON object; the JavaScript expression on it (`it`) is true.
expect_json() {
  local name=$1 expression=$2 answer
  shift 2
  "$@" >"$scratch/out.json" 2>"$scratch/err.txt"
  answer=$(node -e '
    const it = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    const holds = new Function("it", `return (${process.argv[2]})`)(it);
    console.log(holds === true ? "yes" : `got ${JSON.stringify(holds)}`);
  ' "$scratch/out.json" "$expression" 2>&1)
  if [ "$answer" = yes ]; then
    ok "$name"
  else
    not_ok "$name" "not true: $expression"$'\n'"$answer"$'\n'"$(head -c 600 "$scratch/err.txt")"
  fi
}

# finish: prints the count and ends with 1 when something failed.
finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
  exit
}
