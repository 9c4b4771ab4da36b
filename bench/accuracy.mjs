/** @file Scores predictions on measured runs and writes docs/accuracy.md.
 *
 *   npm run bench:accuracy                              data/runs.csv and data/memory.csv; writes the page
 *   npm run bench:accuracy -- RUNS.csv [MEMORY.csv]     other files; only prints
 *
 * Prints one line a figure. Nothing is fitted here. Every row is also simulated on shared links: some four minutes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readExclusions, readRuns, scoreRuns, skipReasons } from '@meshwright/core/score';

const here = (path) => new URL(`../${path}`, import.meta.url);
const given = process.argv.slice(2);
const usual = given.length === 0;
const [runsPath, memoryPath] = usual ? [here('data/runs.csv'), here('data/memory.csv')] : given;
const named = (path) => ({ name: String(path), text: readFileSync(path, 'utf8') });

const { rows, issues } = readRuns(named(runsPath), memoryPath && named(memoryPath));
if (issues.length > 0) throw new Error(issues.map(({ path, message }) => `${path} ${message}`).join('\n'));
const exclusions = readExclusions(named(here('data/exclusions.csv'))).reasons;
const score = scoreRuns(rows, { exclusions, settles: true });

const percent = (share) => (share === null || share === undefined ? '-' : (100 * share).toFixed(1));
const say = (name, value, unit = '') => console.log(`${name}: ${value}${unit && ` ${unit}`}`);
const { overall, nullModel, bySource, skipped } = score;
say('rows priced', overall.rows, 'rows');
say('mean error', percent(overall.mape), '%');
say('median error', percent(overall.median), '%');
say('bias', percent(overall.bias), '%');
say('p90 error', percent(overall.p90), '%');
say('in range', percent(overall.coverage), '%');
say('mean error on shared links', percent(overall.tiers?.shared.mape), '%');
say('bias on shared links', percent(overall.tiers?.shared.bias), '%');
say('rows on shared links', overall.tiers?.shared.rows ?? 0, 'rows');
say('null model on the same rows', percent(nullModel.overall?.mape), '%');
say('this model on the rows of the null model', percent(nullModel.ours?.mape), '%');
const timed = bySource.filter((source) => source.rows > 0);
say("mean of the sources' means", percent(timed.reduce((sum, each) => sum + each.mape, 0) / timed.length), '%');
for (const each of timed) say(each.source, percent(each.mape), '%');
function table(head, align, lines) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [row(head), `|${align.map((each) => (each === 'r' ? '--:' : '---')).join('|')}|`, ...lines.map(row)].join(
    '\n',
  );
}

function csv(path) {
  const [head, ...lines] = readFileSync(here(path), 'utf8').trim().split('\n');
  const cells = (line) =>
    line.match(/("[^"]*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, '').replace(/^"|"$/g, ''));
  const keys = cells(head);
  return lines.map((line) => Object.fromEntries(cells(line).map((cell, index) => [keys[index], cell])));
}

function sourceLines() {
  const before = new Map(csv('data/accuracy-before.csv').map((row) => [row.source, row]));
  const nulls = new Map(nullModel.bySource.map((row) => [row.source, row.mape]));
  return [...bySource.filter((each) => each.rows > 0), overall].map((each) => [
    each.source,
    each.rows,
    each.skipped,
    percent(each.mape),
    percent(each.bias),
    percent(each.median),
    percent(each.p90),
    percent(each.worst),
    percent(each.coverage),
    each.source === 'all' ? percent(nullModel.overall?.mape) : percent(nulls.get(each.source)),
    each.spearman === null ? '-' : each.spearman.toFixed(2),
    percent(each.regret),
    before.get(each.source)?.mean ?? '-',
  ]);
}

const intro = `All numbers are percent, but for rows and rank. Bias below 0: predicted too fast. *In range*: share of the rows whose measured
time lies between \`low\` and \`high\`. *Null*: a constant rate per device, the median of the other sources on that device,
times the bubble of the schedule. *Rank*: Spearman correlation among layouts of one job (at least three), mean over jobs;
*regret*: measured time of the layout that would have been picked over the best one. *Before*: mean error of the first scorer,
which knew no habits of frameworks and read dense 16-bit rows only.`;

const fitted = `Rates of products, of attention on A100 and of collectives are fitted to tables of kernels and collectives
(\`bench/fit.mjs\`). Sustained rates, attention on Hopper and Blackwell, host launch times, the share of tensor exchanges
that NeMo hides and the cost of fp8 by row come from the accuracy notes of a prototype, which were fitted to part of these
runs: on those the errors are optimistic. Lists of eager kernels are counted from code. What a framework does by habit
(\`packages/core/src/frameworks\`) carries its source; which habits to model, and which reading of a paper to take, was decided by people who had seen these
errors, so a release that nobody has looked at will do worse. Nothing depends on a row, a source or the name of a model.
The exclusions remove one source whole (NeMo-Megatron-Launcher, 10 rows at 19 %).`;

function mainTable() {
  const heads = 'source,rows,skipped,mean,bias,median,p90,worst,in range,null,rank,regret,before'.split(',');
  return table(heads, ['l', ...heads.slice(1).map(() => 'r')], sourceLines());
}

/** Both tiers on the rows that the second one was run on. */
function tiersTable() {
  const lines = [...bySource, overall]
    .filter((each) => each.tiers !== null)
    .map(({ source, tiers: { block, shared } }) => [
      source,
      shared.rows,
      ...[block, shared].flatMap(({ mape, bias, median, worst }) => [mape, bias, median, worst].map(percent)),
    ]);
  const heads = 'mean,bias,median,worst'.split(',');
  const named = ['block: mean', ...heads.slice(1), 'shared links: mean', ...heads.slice(1)];
  return table(['source', 'rows', ...named], ['l', ...Array(9).fill('r')], lines);
}

function skippedTable() {
  const lines = Object.entries(skipped)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => [`\`${reason}\``, count, skipReasons[reason]]);
  return table(['reason', 'rows', 'what it means'], ['l', 'r', 'l'], lines);
}

function memoryTable() {
  const lines = [...bySource, overall]
    .filter((each) => each.memory !== null)
    .map(({ source, memory }) => [
      source,
      memory.rows,
      percent(memory.mape),
      percent(memory.bias),
      percent(memory.worst),
    ]);
  return table(['source', 'rows', 'mean', 'bias', 'worst'], ['l', 'r', 'r', 'r', 'r'], lines);
}

/** Runs with a measured time ran: a verdict that they do not fit is false. */
const ran = score.rows.filter((row) => row.error !== undefined);
const refused = ran.filter((row) => row.verdict === 'does-not-fit');
const givenUp = ran.filter((row) => row.assumed.some((each) => each.includes('the least that fits')));
const onHost = givenUp.filter((row) => row.assumed.some((each) => each.includes('on the host')));
const overflowed = score.rows.filter((row) => row.ranOut && row.verdict !== undefined);
const caught = overflowed.filter((row) => row.verdict === 'does-not-fit');
say('false out-of-memory', percent(refused.length / ran.length), '%');
say('runs that give up what nobody states', givenUp.length, 'rows');
say('runs out of memory that are said not to fit', `${caught.length} of ${overflowed.length}`, 'rows');

function fitTable() {
  const lines = bySource
    .filter((each) => each.rows > 0)
    .map(({ source }) => {
      const mine = (rows) => rows.filter((row) => row.source === source).length;
      return [source, mine(ran), mine(refused), mine(givenUp)];
    });
  const all = ['all', ran.length, refused.length, givenUp.length];
  return table(['source', 'ran', 'said not to fit', 'fit with the least'], ['l', 'r', 'r', 'r'], [...lines, all]);
}

function falselyRefused() {
  return `${refused.length} of the ${ran.length} runs with a measured time (${percent(refused.length / ran.length)} %) are said not to fit, though they ran.

**What is open is filled with the least that fits.** A row that leaves recomputation blank, or says only that its recipe
recomputes some modules, is priced without any as long as that fits. Where it does not fit, the smallest share of the layers
(in eighths) is taken whose activations are made again or, for NeMo and Megatron-Bridge with one stage, copied to the host:
of two ways the faster. ${givenUp.length} rows are priced so (${onHost.length} on the host), each says so in \`assumed\`; without this rule
${refused.length + givenUp.length} rows (${percent((refused.length + givenUp.length) / ran.length)} %) would be refused. A row that states what it recomputes is never changed. A check from
outside: recipes of Llama 3 70B copy 20 and 40 of 80 layers to the host (GB300 and GB200, fp8); the rule finds 25 and 63 %.

${fitTable()}

Of ${overflowed.length} runs that are known to have run out of memory ${caught.length} are said not to fit. The others (${overflowed
    .filter((row) => !caught.includes(row))
    .map((row) => row.id)
    .join(', ')}: BLOOM candidates with tensor 4) have less state on a device
than neighbours that ran in 56 GB; why they failed is not known.`;
}

function historyTable() {
  const keys = ['date', 'change', 'rows', 'mean', 'median', 'bias'];
  const lines = csv('data/accuracy-history.csv').map((row) => keys.map((key) => row[key] || '-'));
  return table(keys, ['l', 'l', 'r', 'r', 'r', 'r'], lines);
}

function page() {
  return `# Accuracy

Predicted against measured seconds per step, on the published runs of \`data/runs.csv\`. Written by
\`npm run bench:accuracy\`; the same table for your own runs: \`meshwright score runs.csv [memory.csv]\`.

**${overall.rows} rows priced: mean error ${percent(overall.mape)} %, median ${percent(overall.median)} %, bias ${percent(overall.bias)} %.**

${intro}

${mainTable()}

On the ${nullModel.overall?.rows} rows that the null model can predict it is off by ${percent(nullModel.overall?.mape)} % in the mean, this model by ${percent(nullModel.ours?.mape)} %.

## Both tiers

The table above is of block level, where every operation takes what it takes alone. *Shared links*: the same layouts operation by
operation, concurrent exchanges sharing the links of the cluster and slowing kernels down, from two short programs as
\`plan\` settles its best. Rates were fitted at block level. ${overall.rows - (overall.tiers?.shared.rows ?? 0)} of the ${overall.rows} rows are too large for that and left out of both halves.

${tiersTable()}

## What is fitted to what

${fitted}

## Rows that are not priced

${skippedTable()}

Exclusions, with the reason for each row: \`data/exclusions.csv\`.

## Peak memory

Decimal GB of what the source measured: tensors, tensors and fragments, or the whole device.

${memoryTable()}

${falselyRefused()}

## History

${historyTable()}
`;
}

if (usual) writeFileSync(here('docs/accuracy.md'), page());
