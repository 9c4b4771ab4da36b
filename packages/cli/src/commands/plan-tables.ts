/** @file The tables of `meshwright plan`. */
import {
  type Planned,
  type PlannedSize,
  type RecipePlan,
  type ScalingCurve,
  type Shown,
  type Sweep,
  thresholds,
  type WorkloadSize,
} from '@meshwright/core/plan';
import { formatCount } from '@meshwright/core/units';
import { fixed, percent, significant, whole } from '../output/numbers.ts';
import { exposedShare, fullestBytes, gib, shortLayout, verdictWords } from '../output/plan-words.ts';
import type { Format } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

/** Layouts as a row each; long lists of chunks are cut for people. */
export function planTable({ plans, settled }: Pick<Planned, 'plans' | 'settled'>, format: Format): Table {
  const short = plans.every(({ step }) => step.seconds < 1);
  const added = new Map(plans.map((shown, index) => [shown, settled[index]]));
  return tableOf(plans, [
    numbers('#', (_, index) => String(index + 1)),
    numbers(short ? 'step ms~' : 'step s~', ({ step }) =>
      short ? fixed(step.seconds * 1e3, 2) : fixed(step.seconds, 2),
    ),
    numbers('shared links +%~', (shown) => {
      const { evaluatedSeconds = 1, simulatedSeconds } = added.get(shown) ?? {};
      return simulatedSeconds === undefined ? '-' : percent(simulatedSeconds / evaluatedSeconds - 1);
    }),
    numbers('tokens/s/GPU~', ({ step }) => whole(step.tokensPerSecondPerGpu)),
    numbers('MFU %~', ({ step }) => percent(step.mfu)),
    numbers('memory GiB~', (shown) => gib(fullestBytes(shown))),
    numbers('exposed %~', (shown) => percent(exposedShare(shown))),
    numbers('bubble %~', ({ pipeline }) => percent(pipeline.bubbleShare)),
    words('fits', ({ memory }) => verdictWords(memory.verdict)),
    words('layout', ({ layout }) => (format === 'text' ? shortLayout(layout.short) : layout.short)),
  ]);
}

/** The sizes that an objective compared. */
export function sizeTable(sizes: readonly PlannedSize[]): Table {
  const hasCost = sizes.some(({ amounts }) => amounts?.cost !== undefined);
  return tableOf(
    sizes,
    [
      numbers('GPUs', ({ gpus }) => whole(gpus)),
      words('fits', ({ verdict }) => (verdict === 'illegal' ? 'none is legal' : verdictWords(verdict))),
      numbers('memory GiB~', ({ deviceBytes, verdict }) =>
        deviceBytes === undefined ? '-' : `${verdict === 'does-not-fit' ? '>= ' : ''}${gib(deviceBytes)}`,
      ),
      numbers('step s~', ({ seconds }) => (seconds === undefined ? '-' : fixed(seconds, seconds < 1 ? 4 : 2))),
      numbers('GPU-hours per 10^9 tokens~', ({ amounts }) =>
        amounts ? significant(amounts.gpuHoursPerBillionTokens) : '-',
      ),
      ...(hasCost
        ? [
            numbers<PlannedSize>('cost per 10^9 tokens~', ({ amounts }) =>
              amounts?.costPerBillionTokens === undefined ? '-' : significant(amounts.costPerBillionTokens),
            ),
          ]
        : []),
      numbers('kWh per 10^9 tokens~', ({ amounts }) =>
        amounts?.kilowattHoursPerBillionTokens === undefined ? '-' : significant(amounts.kilowattHoursPerBillionTokens),
      ),
      words('layout', ({ layout }) => shortLayout(layout ?? '-')),
    ],
    'sizes',
  );
}

/** What a workload trains, in words. */
function workloadWords({ workload }: WorkloadSize): string {
  if (workload === 'sft') return 'full fine-tuning (sft)';
  if (typeof workload === 'string') return `training (${workload})`;
  const { rank, targets } = workload.lora;
  return `adapters (lora, rank ${rank}, ${targets.join(', ')})`;
}

/** The smallest cluster of each workload; a reason where there is none. */
export function workloadTable(workloads: readonly WorkloadSize[]): Table {
  return tableOf(
    workloads,
    [
      words('smallest cluster for', workloadWords),
      numbers('trained', ({ trainedParameters: trained }) => (trained === undefined ? '-' : formatCount(trained))),
      numbers('GPUs', ({ size }) => (size ? whole(size.gpus) : '-')),
      numbers('GiB per GPU~', ({ size }) => (size?.deviceBytes === undefined ? '-' : gib(size.deviceBytes))),
      numbers('step s~', ({ size }) => (size?.seconds === undefined ? '-' : significant(size.seconds))),
      words('layout', ({ size, why }) => (size ? shortLayout(size.layout ?? '-') : `none: ${why}`)),
    ],
    'workloads',
  );
}

/** A curve of a sweep, a size a row; gaps have their reason. */
export const curveTables = ({ curves }: Sweep): readonly Table[] => curves.map(curveTable);

function curveTable({ kind, points, gaps }: ScalingCurve): Table {
  const title = kind === 'strong' ? 'strong scaling: the batch stays' : 'weak scaling: the batch grows with the GPUs';
  const rows = [
    ...points.map((point) => ({ gpus: point.gpus, point, gap: undefined })),
    ...gaps.map((gap) => ({ gpus: gap.gpus, point: undefined, gap })),
  ].sort((one, other) => one.gpus - other.gpus);
  type Row = (typeof rows)[number];
  const cell = (head: string, of: (point: NonNullable<Row['point']>) => string) =>
    numbers<Row>(head, ({ point }) => (point ? of(point) : '-'));
  return tableOf(
    rows,
    [
      numbers('GPUs', ({ gpus }) => whole(gpus)),
      cell('sequences', ({ sequences }) => whole(sequences)),
      cell('step s~', ({ seconds }) => fixed(seconds, seconds < 1 ? 4 : 2)),
      cell('tokens/s/GPU~', ({ tokensPerSecondPerGpu }) => whole(tokensPerSecondPerGpu)),
      cell('of the best %~', ({ efficiency }) => percent(efficiency)),
      cell('exposed %~', (point) => percent(point.exposedShare)),
      cell('bubble %~', ({ bubbleShare }) => percent(bubbleShare)),
      cell('MFU %~', ({ mfu }) => percent(mfu)),
      words('layout', ({ point, gap }) => (point ? shortLayout(point.layout) : `${gap?.why}`)),
    ],
    title,
  );
}

/** What the sweep says in sentences: the knee of each curve, or that there is none. */
export const sweepReasons = ({ curves }: Sweep): readonly string[] =>
  curves.flatMap(({ kind, knee, points }) => {
    const over = points.filter(({ beyondLimit }) => beyondLimit).map(({ gpus }) => gpus);
    const limit =
      over.length === 0 ? [] : [`${kind}: from ${whole(Math.min(...over))} GPUs on the batch is beyond batch.max.`];
    if (knee) return [`${kind} scaling: knee at ${whole(knee.gpus)} GPUs. ${knee.words}`, ...limit];
    const last = points.at(-1);
    if (!last) return [`${kind} scaling: nothing fits in this range.`];
    const share = `${percent(last.efficiency)} % of the best, not under ${percent(thresholds.kneeEfficiency, 0)} %`;
    return [`${kind} scaling: no knee up to ${whole(last.gpus)} GPUs: ${share}.`, ...limit];
  });

/** The recipe beside the search. */
export function recipeReasons(recipe: RecipePlan, best: Shown | undefined): readonly string[] {
  const { name, says, layout, seconds, costOverSearch, tried, unmet } = recipe;
  const head = `Recipe ${name}: ${says}.`;
  const steps = tried.map((each) => `  ${each}`);
  if (layout === undefined || seconds === undefined)
    return [head, ...steps, ...unmet.map((each) => `  It finds nothing: ${each}`)];
  const cost =
    costOverSearch === undefined || best === undefined
      ? ''
      : costOverSearch > 0
        ? `, ${percent(costOverSearch)} % more than the search's ${shortLayout(best.layout.short)}`
        : ', what the search finds too';
  return [
    head,
    ...steps,
    `  It arrives at ${shortLayout(layout)}: ${fixed(seconds, 2)} s/step~${cost}.`,
    ...unmet.map((each) => `  Not kept: ${each}`),
  ];
}
