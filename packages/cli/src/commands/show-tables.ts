/** @file The tables of `meshwright show`. */
import type { Shown, ShownStage, ShownTraffic } from '@meshwright/core/plan';
import { fixed, percent, significant, whole } from '../output/numbers.ts';
import { gib, partWords } from '../output/plan-words.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

/** Where the step of the slowest rank goes; parts that take nothing are left out. */
export function partTable({ step }: Shown): Table {
  const parts = (Object.keys(partWords) as (keyof typeof partWords)[])
    .map((part) => ({ part: partWords[part], seconds: step.partsSeconds[part] }))
    .filter(({ seconds }) => seconds > 0);
  const decimals = step.seconds < 1 ? 3 : 1;
  return tableOf(
    [...parts, { part: 'step', seconds: step.seconds }],
    [
      words('where a step goes', ({ part }) => part),
      numbers('ms~', ({ seconds }) => fixed(seconds * 1e3, decimals)),
      numbers('%~', ({ seconds }) => percent(seconds / step.seconds)),
    ],
  );
}

interface StageRow {
  readonly name: string;
  readonly stage: ShownStage;
}

/** Memory by stage, in GiB of one rank; neighbours that are alike share a row. `most` rows are given, those in the middle
 * left out. */
export function memoryTable({ memory }: Shown, most: number): Table {
  const part = (name: string) => numbers<StageRow>(`${name} GiB`, ({ stage }) => gib(stage.partsBytes[name] ?? 0));
  const table = tableOf(stageRows(memory.stages), [
    words('stage', ({ name }) => name),
    numbers('layers', ({ stage }) => whole(stage.layers)),
    numbers('parameters M', ({ stage }) => fixed(stage.parameters / 1e6, 1)),
    ...['weights', 'gradients', 'optimizer', 'activations', 'logits', 'buffers'].map(part),
    numbers('allocated GiB', ({ stage }) => gib(stage.allocatedBytes)),
    numbers('device GiB~', ({ stage }) => gib(stage.deviceBytes)),
    numbers('left GiB~', ({ stage }) => gib(memory.capacityBytes - stage.deviceBytes)),
    ...(memory.stages.some((stage) => stage.hostBytes > 0)
      ? [numbers<StageRow>('on host GiB', ({ stage }) => gib(stage.hostBytes))]
      : []),
    words('fits', ({ stage }) => (stage.verdict === 'fits' ? 'yes' : stage.verdict === 'at-risk' ? 'at risk' : 'no')),
  ]);
  if (table.rows.length <= most) return table;
  const half = Math.floor(most / 2);
  const left = table.columns.map(() => '...');
  return { ...table, rows: [...table.rows.slice(0, half), left, ...table.rows.slice(-half)] };
}

/** Rows of equal layers, parameters and (to a tenth of a GiB) memory. */
function stageRows(stages: readonly ShownStage[]): readonly StageRow[] {
  const key = ({ stage: _, ...rest }: ShownStage): string =>
    JSON.stringify([rest.layers, rest.parameters, gib(rest.allocatedBytes), gib(rest.deviceBytes), rest.verdict]);
  const rows: StageRow[] = [];
  let first = 0;
  for (let index = 1; index <= stages.length; index++) {
    const stage = stages[first];
    const next = stages[index];
    if (stage === undefined || (next !== undefined && key(next) === key(stage))) continue;
    rows.push({ name: index - 1 === first ? `${first}` : `${first}-${index - 1}`, stage });
    first = index;
  }
  return rows;
}

/** Exchanges by axis and kind, seconds alone and as waited for; what takes longest first. */
export const trafficTable = ({ traffic }: Shown): Table =>
  tableOf(joinReceives(traffic), [
    words('axis', ({ axis }) => axis),
    words('exchange', ({ collective }) => collective),
    numbers('a step', ({ count }) => whole(count)),
    numbers('MiB per rank', ({ bytesPerRank }) => significant(bytesPerRank / 2 ** 20)),
    words('slowest link', ({ link }) => link),
    numbers('MiB over it', ({ tiers }) => significant((tiers.at(-1)?.bytesPerRank ?? 0) / 2 ** 20)),
    words('leaves node', ({ crossesNode }) => (crossesNode ? 'yes' : 'no')),
    numbers('ms~', ({ seconds }) => fixed(seconds * 1e3, 1)),
    numbers('waited for ms~', ({ exposedSeconds }) => fixed(exposedSeconds * 1e3, 1)),
  ]);

/** A receive moves no bytes of its own rank: it stands in the row of the sends. */
function joinReceives(traffic: readonly ShownTraffic[]): readonly ShownTraffic[] {
  const received = traffic.filter(({ collective }) => collective === 'recv');
  return traffic
    .filter(({ collective }) => collective !== 'recv')
    .map((row) => {
      const other = received.find(({ axis }) => row.collective === 'send' && axis === row.axis);
      if (!other) return row;
      const exposedSeconds = row.exposedSeconds + other.exposedSeconds;
      return { ...row, collective: 'send and receive', count: row.count + other.count, exposedSeconds };
    })
    .sort((one, other) => other.seconds - one.seconds);
}

const MOST_RANKS = 16;

/** The ranks of each group, a row each. */
export const groupTable = (groups: NonNullable<Shown['groups']>): Table =>
  tableOf(
    Object.entries(groups).flatMap(([axis, members]) => members.map((ranks, index) => ({ axis, index, ranks }))),
    [
      words('axis', ({ axis }) => axis),
      numbers('group', ({ index }) => whole(index)),
      words('ranks', ({ ranks }) =>
        ranks.length <= MOST_RANKS ? ranks.join(' ') : `${ranks.slice(0, MOST_RANKS).join(' ')} ... (${ranks.length})`,
      ),
    ],
  );

/** Every assumed number with its range and origin. */
export const assumptionTable = ({ assumptions }: Shown): Table =>
  tableOf(assumptions, [
    words('assumed', ({ what }) => what),
    numbers('value', ({ value }) => value.toPrecision(3)),
    numbers('low', ({ low }) => low.toPrecision(3)),
    numbers('high', ({ high }) => high.toPrecision(3)),
    words('source', ({ source }) => source),
  ]);
