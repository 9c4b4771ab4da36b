/** @file One stage in time: what it computes, and what it exchanges below. */
import { formatSeconds, formatShare, seconds } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { onOperation, operationColour, surface } from '../palette/index.ts';
import { at, textWidth } from '../svg/geometry.ts';
import type { ExchangeRow, Invocation, StageTimeline } from './facts.ts';
import { intervalsPath, type TimeScale } from './scale.ts';

const COMPUTE = 24;
const EXCHANGE = 9;
const GAP = 3;

/** Where things stand from left to right. */
export interface StageColumns {
  readonly left: number;
  readonly plot: number;
  readonly width: number;
}

export interface StageProps {
  readonly stage: StageTimeline;
  readonly rows: readonly ExchangeRow[];
  readonly scale: TimeScale;
  readonly columns: StageColumns;
  readonly layers: number;
  /** Seconds of the whole step. */
  readonly total: number;
}

/** Height of a stage with so many rows of exchanges. */
export const stageHeight = (rows: readonly ExchangeRow[]): number => COMPUTE + rows.length * (EXCHANGE + GAP) + 16;

/** Forward that is done again is a band at the foot of the backward that needs it. */
const AGAIN = 7;

/** The rows of one stage, their corner at the origin. */
export function Stage({ stage, rows, scale, columns, layers, total }: StageProps): VNode {
  const { left, plot, width } = columns;
  const idle = 1 - stage.computing / total;
  return (
    <g>
      <text x={left} y="16" class="bold">
        {`stage ${stage.stage}`}
      </text>
      <text x={plot - 12} y="16" class="small quiet end">
        {blocksOf(stage, layers)}
      </text>
      <rect x={plot} y="0" width={width} height={COMPUTE} fill="url(#mw-idle)" />
      {stage.invocations
        .filter(({ span }) => span[1] > scale.window[0] && span[0] < scale.window[1])
        .map((each) => (
          <InvocationBox
            key={`${each.role} ${each.span[0]}`}
            invocation={each}
            scale={scale}
            layers={layers}
            chunks={stage.chunks.length}
          />
        ))}
      <text x={at(plot + width + 22)} y="16">
        {formatShare(idle)}
      </text>
      {rows.map((row, index) => (
        <ExchangeLane
          key={row}
          row={row}
          stage={stage}
          scale={scale}
          plot={plot}
          y={COMPUTE + GAP + index * (EXCHANGE + GAP)}
        />
      ))}
    </g>
  );
}

interface InvocationProps {
  readonly invocation: Invocation;
  readonly scale: TimeScale;
  readonly layers: number;
  readonly chunks: number;
}

/** Narrower invocations are joined with their neighbours to the eye; wider ones end a little early instead. */
const SEPARATE = 3;
/** A name stands on colour, not on the hatch of an invocation that mostly waits. */
const MOSTLY = 0.6;

/** Weight parts stand lower than what others wait for. */
const WEIGHT_TOP = 6;

const letters = { forward: 'F', backward: 'B', weight: 'W' } as const;

/** Names from long to short; with several chunks a letter says which. */
function labels({ role, microBatch, chunk = 0 }: Invocation, chunks: number): readonly string[] {
  if (role === 'optimizer') return [];
  const name = chunks > 1 ? `${microBatch}${String.fromCharCode(97 + chunk)}` : `${microBatch}`;
  return [`${letters[role]} ${name}`, name];
}

/** A path, where there is one: an attribute without a value is no XML. */
function Bars({ d, fill }: { readonly d: string; readonly fill: string }): VNode | null {
  return d === '' ? null : <path d={d} fill={fill} />;
}

function InvocationBox({ invocation, scale, layers, chunks }: InvocationProps): VNode {
  const { role, span, stretches } = invocation;
  const [from, to] = [scale.x(Math.max(span[0], scale.window[0])), scale.x(Math.min(span[1], scale.window[1]))];
  const width = to - from;
  const busy = stretches.flatMap((each) => each.busy);
  const again = stretches.filter((each) => each.role === 'again').flatMap((each) => each.busy);
  const filled = invocation.computing > MOSTLY * (span[1] - span[0]);
  const top = role === 'weight' ? WEIGHT_TOP : 0;
  const colour = role === 'weight' ? 'backward' : role;
  const text = labels(invocation, chunks).find((each) => filled && textWidth(each, 11) < width - 3);
  return (
    <g>
      <title>{sentence(invocation, layers)}</title>
      <Bars d={intervalsPath(busy, scale, top, COMPUTE - top)} fill={operationColour(colour)} />
      {again.length > 0 && (
        <g>
          <Bars d={intervalsPath(again, scale, COMPUTE - AGAIN, AGAIN)} fill={operationColour('forward')} />
          <Bars d={intervalsPath(again, scale, COMPUTE - AGAIN, AGAIN)} fill="url(#mw-again)" />
        </g>
      )}
      {width > SEPARATE && <line x1={at(to)} x2={at(to)} y1="0" y2={COMPUTE} stroke={surface('background')} />}
      {text !== undefined && (
        <text
          x={at(from + width / 2)}
          y={again.length > 0 ? 13 : top > 0 ? 19 : 16}
          class="small middle"
          style={`fill:${onOperation(colour)}`}
        >
          {text}
        </text>
      )}
    </g>
  );
}

const rowWords: Readonly<Record<ExchangeRow, string>> = {
  tensor: 'tensor',
  context: 'context',
  expert: 'experts',
  data: 'data',
  ends: 'first and last stage',
  stages: 'between stages',
};

interface LaneProps {
  readonly row: ExchangeRow;
  readonly stage: StageTimeline;
  readonly scale: TimeScale;
  readonly plot: number;
  readonly y: number;
}

function ExchangeLane({ row, stage, scale, plot, y }: LaneProps): VNode {
  const intervals = stage.exchanges[row];
  const busy = intervals.reduce((sum, [from, to]) => sum + to - from, 0);
  return (
    <g>
      <title>{`${rowWords[row]}: ${intervals.length} exchanges, ${formatSeconds(seconds(busy))}`}</title>
      <text x={plot - 12} y={y + 8} class="small quiet end">
        {rowWords[row]}
      </text>
      <Bars
        d={intervalsPath(intervals, scale, y, EXCHANGE)}
        fill={operationColour(row === 'stages' ? 'send' : 'collective')}
      />
    </g>
  );
}

/** `forward of micro-batch 3, layers 0-19: 12.1 ms to 24.0 ms, computing 92.1 %`. */
function sentence({ role, microBatch, blocks, span, computing }: Invocation, layers: number): string {
  const part = role === 'weight' ? 'weight part of backward' : role;
  const what =
    role === 'optimizer' ? 'norm and optimizer' : `${part} of micro-batch ${microBatch}, ${blockWords(blocks, layers)}`;
  const [from, to] = span.map((each) => formatSeconds(seconds(each)));
  return `${what}: ${from} to ${to}, computing ${formatShare(computing / (span[1] - span[0]))}`;
}

/** Blocks in words: `embedding, layers 0-19`, `layer 3, head`. */
function blockWords(blocks: readonly number[], layers: number): string {
  const middle = blocks.filter((block) => block >= 0 && block < layers).sort((one, other) => one - other);
  const [first] = middle;
  const last = middle.at(-1);
  return [
    ...(blocks.includes(-1) ? ['embedding'] : []),
    ...(first === undefined ? [] : [first === last ? `layer ${first}` : `layers ${first}-${last}`]),
    ...(blocks.includes(layers) ? ['head'] : []),
  ].join(', ');
}

/** The layers of a stage, chunk by chunk, as far as there is room. */
function blocksOf({ chunks }: StageTimeline, layers: number): string {
  const words = chunks.map((blocks) => blockWords(blocks, layers).replace(/^embedding, |, head$/g, ''));
  const numbers = words.map((each) => each.replace(/^layers? /, ''));
  if (words.length < 2) return words[0] ?? '';
  return numbers.length <= MOST_CHUNKS ? `${numbers.join(', ')}` : `${words.length} chunks`;
}

const MOST_CHUNKS = 3;
