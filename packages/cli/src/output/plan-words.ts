/** @file Words for what plans answer: degrees, verdicts, rejections, parts of a step. */
import { exposedSeconds, type Shown } from '@meshwright/core/plan';
import { bytes, formatBytes } from '@meshwright/core/units';
import { fixed, percent, whole } from './numbers.ts';

export const GIB: number = 2 ** 30;

/** Bytes as GiB with one decimal, without the unit. */
export const gib = (bytes: number): string => fixed(bytes / GIB, 1);

/** Tensor, pipeline and data degree in a row: `data 4 (sharded state)`. */
export function degreeWords({ tensor, pipeline, context, data, replicate, sharding }: Shown['layout']): string {
  const sharded =
    ['', ' (sharded optimizer)', ' (sharded optimizer and gradients)', ' (sharded state)'][sharding] ?? '';
  return `tensor ${tensor} \u00b7 pipeline ${pipeline} \u00b7 ${context > 1 ? `context ${context} \u00b7 ` : ''}data ${replicate > 1 ? `${replicate} x ${data / replicate}` : data}${data * context > 1 ? sharded : ''}`;
}

/** The fullest stage's bytes on the device. */
export const fullestBytes = ({ memory }: Shown): number => Math.max(...memory.stages.map((stage) => stage.deviceBytes));

/** `7.10 s/step~, 61.2 of 79.1 GiB, 46 % MFU`. */
export function headline(shown: Shown): string {
  const { step, memory } = shown;
  const seconds = step.seconds < 1 ? `${fixed(step.seconds * 1e3, 1)} ms` : `${fixed(step.seconds, 2)} s`;
  return `${seconds}/step~, ${gib(fullestBytes(shown))} of ${gib(memory.capacityBytes)} GiB, ${percent(step.mfu, 0)} % MFU`;
}

/** Seconds that the slowest rank waits for exchanges, as a share of the step. */
export const exposedShare = ({ step }: Shown): number => exposedSeconds(step.partsSeconds) / step.seconds;

/** One line for each axis that exchanges: its link, its collectives and what one rank sends in a step.
 *
 * `tensor: NVLink 4, inside the node; reduce-scatter, all-gather; 2.36 TiB a rank and step`.
 */
export function linkLines({ traffic }: Shown): readonly string[] {
  const axes = [...new Set(traffic.map((row) => row.axis))];
  return axes.map((axis) => {
    const rows = traffic.filter((row) => row.axis === axis);
    const sent = rows.reduce((sum, row) => sum + row.bytesPerRank, 0);
    const heavy = rows.filter((row) => row.bytesPerRank > sent / 100 && row.collective !== 'recv');
    const links = [...new Set(rows.map((row) => row.link))].join(' and ');
    const where = rows.some((row) => row.crossesNode) ? 'between nodes' : 'inside the node';
    const collectives = [...new Set(heavy.map((row) => row.collective))].join(', ');
    const slow = rows.reduce((sum, row) => sum + slowest(row), 0);
    const over = slow < 0.999 * sent ? `, ${formatBytes(bytes(slow))} of it over ${links}` : '';
    return `${axis}: ${links}, ${where}; ${collectives}; ${formatBytes(bytes(sent))} a rank and step${over}.`;
  });
}

/** Bytes of an exchange that its slowest link carries. */
const slowest = ({ tiers }: Shown['traffic'][number]): number => tiers.at(-1)?.bytesPerRank ?? 0;

/** `231 out of memory, 96 heads not divisible`: most frequent first. */
export function rejectionWords(rejected: Readonly<Partial<Record<string, number>>>): string {
  return Object.entries(rejected)
    .sort(([, one = 0], [, other = 0]) => other - one)
    .map(([code, count = 0]) => `${whole(count)} ${code.toLowerCase().replaceAll('_', ' ')}`)
    .join(', ');
}

/** A verdict in a cell. */
export const verdictWords = (verdict: Shown['memory']['verdict']): string =>
  verdict === 'fits' ? 'yes' : verdict === 'at-risk' ? 'at risk' : 'no';

/** Parts of a step in words, in the order in which they are shown. */
export const partWords: Readonly<Record<keyof Shown['step']['partsSeconds'], string>> = {
  ideal: 'products and attention at peak rate',
  inefficiency: 'what they take beyond that',
  memoryBound: 'other kernels',
  recompute: 'forward again',
  optimizer: 'norm and optimizer',
  tensor: 'waiting: tensor',
  context: 'waiting: context',
  expert: 'waiting: expert',
  data: 'waiting: data',
  pipelineSend: 'waiting: sends between stages',
  bubble: 'waiting: other stages (bubble)',
  host: 'waiting: the host',
  offload: 'waiting: offload',
};

/** A list of chunks that would fill a line: its first and last four. */
const longList = /(lps=(?:\d+-){3}\d+)-[\d-]{16,}?-((?:\d+-){3}\d+)(?=,|$)/;

/** The short form of a layout for tables that people read: long lists are cut in the middle. */
export const shortLayout = (layout: string): string => layout.replace(longList, '$1-...-$2');
