/** @file How far two tiers of evaluation are apart on the example jobs: block level, where every operation takes what it
 * takes alone, and operation level on shared links with mutual slow-down. Each job is planned (keys that its file leaves
 * open are searched) and its best layout settled. Run: npm run bench:tiers. Takes some twenty seconds on one core.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readJob } from '@meshwright/core/io';
import { planJob } from '@meshwright/core/plan';

const folder = new URL('../examples/', import.meta.url);
/** Steps below this wait for the host, not for links: they say nothing of sharing. */
const TOY_SECONDS = 0.01;

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const medianOf = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const rows = [];
const tooLarge = [];
for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
  const { job, issues } = readJob(readFileSync(new URL(file, folder), 'utf8'), file);
  if (!job) throw new Error(`${file}: ${issues.map(({ message }) => message).join(' ')}`);
  const [settled] = planJob(job, { top: 1 }).settled;
  const { evaluatedSeconds, simulatedSeconds } = settled;
  if (simulatedSeconds === undefined) {
    tooLarge.push(file);
    continue;
  }
  const added = simulatedSeconds / evaluatedSeconds - 1;
  rows.push({ file, evaluatedSeconds, added });
  console.log(`${file}: ${evaluatedSeconds.toPrecision(4)} s, shared links +${percent(added)}`);
}
if (tooLarge.length > 0) console.log(`Too large to be settled with shared links: ${tooLarge.join(', ')}`);

const large = rows.filter(({ evaluatedSeconds }) => evaluatedSeconds >= TOY_SECONDS);
const largest = large.reduce((most, row) => (row.added > most.added ? row : most));
console.log(
  `Median +${percent(medianOf(large.map(({ added }) => added)))} over ${large.length} jobs ` +
    `(${rows.length - large.length} more take under 10 ms), largest +${percent(largest.added)}: ${largest.file}`,
);
