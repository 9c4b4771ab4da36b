/** @file Memory of a GPU of each stage at its peak, part by part, against what can be allocated. */
import type { Shown, ShownStage } from '@meshwright/core/plan';
import { bytes, formatGiB } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { type MemoryRole, memoryColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, textWidth } from '../svg/geometry.ts';
import { memoryParts } from './parts.ts';

/** What the figure is drawn from. */
export interface MemoryBarsProps {
  readonly memory: Shown['memory'];
  /** Pixels; 720 when absent. */
  readonly width?: number;
}

const [left, right, row] = [66, 76, 26] as const;
/** Pixels of a line of the legend. */
const legendLine = 20;
/** Stages that are drawn; the fullest are. */
const MOST_STAGES = 32;
const gib = (value: number): string => formatGiB(bytes(value));

/** Stages in their order; of very many only the fullest. */
export function MemoryBars({ memory, width = 720 }: MemoryBarsProps): VNode {
  const { stages, capacityBytes } = memory;
  const kept = new Set(stages.toSorted((a, b) => b.deviceBytes - a.deviceBytes).slice(0, MOST_STAGES));
  const drawn = stages.filter((each) => kept.has(each));
  const most = Math.max(capacityBytes, ...stages.map(({ deviceBytes }) => deviceBytes)) * 1.02;
  const keys = legendPlaces(width);
  const head = 14 + legendLine * (1 + (keys.at(-1)?.line ?? 0));
  const scale = (width - left - right) / most;
  const limit = at(left + capacityBytes * scale);
  const bottom = head + drawn.length * row;
  const leftOut =
    drawn.length < stages.length ? ` The fullest ${drawn.length} of ${stages.length} stages are drawn.` : '';
  const told = drawn.map(({ stage, deviceBytes }) => `stage ${stage}: ${gib(deviceBytes)} GiB`).join('; ');
  return (
    <Frame
      width={width}
      height={bottom + 24}
      title={`Memory of a GPU of each stage, of ${gib(capacityBytes)} GiB`}
      description={`${told}.${leftOut}`}
    >
      <Legend keys={keys} />
      {drawn.map((stage, index) => (
        <Bar
          key={stage.stage}
          stage={stage}
          y={head + index * row}
          width={width}
          scale={scale}
          capacity={capacityBytes}
        />
      ))}
      <line x1={limit} x2={limit} y1={head - 4} y2={bottom} stroke={surface('text')} stroke-width="2" />
      <text x={at(Math.min(limit, width - right))} y={bottom + 14} class="small end">
        {`capacity ${gib(capacityBytes)} GiB.${leftOut}`}
      </text>
    </Frame>
  );
}

interface BarProps {
  readonly stage: ShownStage;
  readonly y: number;
  /** Of the figure. */
  readonly width: number;
  readonly scale: number;
  readonly capacity: number;
}

/** Parts on each other; what the device takes beside tensors comes last, and what is too much is hatched. */
function Bar({ stage: { stage, partsBytes, deviceBytes }, y, width, scale, capacity }: BarProps): VNode {
  let from = left;
  const parts = memoryParts.map(([part, role]) => {
    const x = from;
    const size = (partsBytes[part] ?? 0) * scale;
    from += size;
    return { part, role, x, size };
  });
  const end = left + deviceBytes * scale;
  return (
    <g>
      <text x="4" y={y + 14}>{`stage ${stage}`}</text>
      {parts.map(({ part, role, x, size }) => (
        <rect key={part} x={at(x)} y={y} width={at(size)} height="18" fill={memoryColour(role)} />
      ))}
      <rect x={at(from)} y={y} width={at(Math.max(0, end - from))} height="18" fill={memoryColour('reserve')} />
      {deviceBytes > capacity && (
        <rect
          x={at(left + capacity * scale)}
          y={y}
          width={at((deviceBytes - capacity) * scale)}
          height="18"
          fill="url(#mw-over)"
        />
      )}
      <text x={width - 4} y={y + 14} class={deviceBytes > capacity ? 'end alarm' : 'end'}>
        {`${gib(deviceBytes)} GiB~`}
      </text>
    </g>
  );
}

const legend = [...memoryParts.filter(([part]) => part !== 'logits'), ['reserve', 'reserve'] as const].map(
  ([part, role]) => [part === 'buffers' ? 'logits, buffers' : part, role] as const,
);

interface LegendPlace {
  readonly words: string;
  readonly role: MemoryRole;
  readonly x: number;
  readonly line: number;
}

/** The parts of the legend side by side, in as many lines as they need. */
function legendPlaces(width: number): readonly LegendPlace[] {
  let [x, line] = [4, 0];
  return legend.map(([words, role]) => {
    const size = 16 + textWidth(words, 11) + 14;
    if (x + size > width) [x, line] = [4, line + 1];
    const place = { words, role, x, line };
    x += size;
    return place;
  });
}

const Legend = ({ keys }: { readonly keys: readonly LegendPlace[] }): VNode => (
  <g>
    {keys.map(({ words, role, x, line }) => (
      <g key={words} transform={`translate(${at(x)},${8 + line * legendLine})`}>
        <rect width="11" height="11" fill={memoryColour(role)} />
        <text x="16" y="10" class="small">
          {words}
        </text>
      </g>
    ))}
  </g>
);
