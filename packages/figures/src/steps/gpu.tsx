/** @file One GPU at a moment: four shelves of cells, one for each shown GPU's piece of the model, and how full it is. */
import { bytes, formatBytes, formatSeconds, seconds } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { type MemoryRole, memoryColour, surface } from '../palette/index.ts';
import { at, fitText, textWidth } from '../svg/geometry.ts';
import { rangeOf } from '../svg/words.ts';
import type { Cell, ShelfName } from './holdings.ts';
import type { Box } from './places.ts';
import type { StepScript } from './script.ts';
import type { GpuState, ShelfState } from './state.ts';
import { onMemory } from './style.ts';

const roles: Readonly<Record<ShelfName, MemoryRole>> = {
  W: 'weights',
  G: 'gradients',
  O: 'optimizer',
  A: 'activations',
};
const pad = 8;
const row = { first: 25, step: 18, height: 15, letter: 14, amount: 58 } as const;

interface GpuProps {
  readonly script: StepScript;
  readonly gpu: GpuState;
  readonly box: Box;
}

/** The box of one GPU; the border is strong while it takes part in the step. */
export function StepGpu({ script, gpu, box }: GpuProps): VNode {
  const room = box.width - 64;
  const place = textWidth(gpu.place, 11) <= room ? gpu.place : fitText(gpu.shortPlace, room, 11);
  return (
    <g transform={`translate(${at(box.x)},${at(box.y)})`}>
      <rect
        width={at(box.width)}
        height={box.height}
        rx="4"
        fill={surface('background')}
        stroke={gpu.active ? surface('text') : surface('line')}
        stroke-width={gpu.active ? 2 : 1}
      />
      <text x={pad} y="17" class="h2">
        {`GPU ${gpu.rank}`}
      </text>
      <text x={at(box.width - pad)} y="17" class="small quiet end">
        {place}
      </text>
      {gpu.shelves.map((shelf, index) => (
        <Shelf key={shelf.name} script={script} shelf={shelf} y={row.first + index * row.step} width={box.width} />
      ))}
      <Fill script={script} gpu={gpu} y={row.first + 4 * row.step} width={box.width - 2 * pad} />
      <text x={pad} y={box.height - 7} class={gpu.active ? 'small' : 'small quiet'}>
        {fitText(doneWords(gpu), box.width - 2 * pad, 11)}
      </text>
    </g>
  );
}

/** What it does; in the replay of a run when it did it. */
function doneWords({ doing, active, measured }: GpuState): string {
  if (!active || measured?.start === undefined || measured.end === undefined) return doing;
  return rangeOf(formatSeconds(seconds(measured.start)), formatSeconds(seconds(measured.end)), 'to');
}

interface ShelfProps {
  readonly script: StepScript;
  readonly shelf: ShelfState;
  readonly y: number;
  /** Of the box. */
  readonly width: number;
}

function Shelf({ script, shelf, y, width }: ShelfProps): VNode {
  const { name, cells } = shelf;
  const left = pad + row.letter;
  const step = (width - left - row.amount - pad) / Math.max(1, cells.length);
  const amount = formatBytes(bytes(shelf.bytes));
  return (
    <g>
      <title>{`${roles[name]}: ${amount}`}</title>
      <text x={pad} y={y + 12} class="small bold">
        {name}
      </text>
      {cells.map((cell, index) => {
        const label = name === 'A' ? (cell.count ? String(cell.count) : '') : String(script.gpus[index]?.rank ?? '');
        return (
          <CellBox
            // Cells stand for pieces, and their order never changes.
            key={`${name}${index + 0}`}
            cell={cell}
            role={roles[name]}
            x={left + index * step}
            y={y}
            width={step - 2}
            label={label}
          />
        );
      })}
      <text x={at(width - pad)} y={y + 12} class="small end">
        {amount}
      </text>
    </g>
  );
}

interface CellProps {
  readonly cell: Cell;
  readonly role: MemoryRole;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly label: string;
}

/** Filled from below: what is fresh, then what is stale (hatched), then what is only taken (dashed frame). */
function CellBox({ cell, role, x, y, width, label }: CellProps): VNode {
  const { height } = row;
  const fresh = Math.min(height, cell.fresh * height);
  const stale = Math.min(height - fresh, cell.stale * height);
  const empty = cell.fresh + cell.stale === 0;
  const whole = cell.fresh >= 0.999;
  const bottom = y + height;
  const colour = memoryColour(role);
  return (
    <g>
      {fresh > 0 && <rect x={at(x)} y={at(bottom - fresh)} width={at(width)} height={at(fresh)} fill={colour} />}
      {stale > 0 && (
        <g>
          <rect
            x={at(x)}
            y={at(bottom - fresh - stale)}
            width={at(width)}
            height={at(stale)}
            fill={colour}
            fill-opacity="0.55"
          />
          <rect x={at(x)} y={at(bottom - fresh - stale)} width={at(width)} height={at(stale)} fill="url(#mw-again)" />
        </g>
      )}
      <rect
        x={at(x + 0.5)}
        y={y + 0.5}
        width={at(width - 1)}
        height={height - 1}
        fill="none"
        stroke={empty && cell.room === 0 ? surface('line') : colour}
        stroke-dasharray={empty && cell.room > 0 ? '2 2' : undefined}
      />
      {label !== '' && width >= 6.5 * label.length && (!empty || cell.room > 0) && (
        <text
          x={at(x + width / 2)}
          y={y + 11.5}
          class={whole ? 'tiny middle' : 'tiny middle ringed'}
          style={whole ? `fill:${onMemory(role)}` : undefined}
        >
          {label}
        </text>
      )}
    </g>
  );
}

interface FillProps {
  readonly script: StepScript;
  readonly gpu: GpuState;
  readonly y: number;
  readonly width: number;
}

/** All that is alive now, against the capacity of the device. */
function Fill({ script: { capacityBytes }, gpu, y, width }: FillProps): VNode {
  const { shelves, otherBytes, totalBytes } = gpu;
  const fits = totalBytes <= capacityBytes;
  const scale = width / Math.max(totalBytes, capacityBytes);
  const limit = at(pad + capacityBytes * scale);
  let left = pad;
  const parts = [
    ...shelves.map(({ name, bytes: size }) => [roles[name], size] as const),
    ['buffers', otherBytes] as const,
  ];
  const bars = parts.map(([role, size]) => {
    const bar = <rect key={role} x={at(left)} y={y} width={at(size * scale)} height="6" fill={memoryColour(role)} />;
    left += size * scale;
    return bar;
  });
  const amount = rangeOf(formatBytes(bytes(totalBytes)), formatBytes(bytes(capacityBytes)), 'of');
  const long = `does not fit: ${amount}`;
  return (
    <g>
      <rect x={pad} y={y} width={at(width)} height="6" fill={surface('panel')} />
      {bars}
      {!fits && <rect x={limit} y={y} width={at(pad + width - limit)} height="6" fill="url(#mw-over)" />}
      {!fits && <line x1={limit} x2={limit} y1={y - 2} y2={y + 8} stroke={surface('text')} stroke-width="2" />}
      <text x={at(pad + width)} y={y + 15.5} class={fits ? 'tiny quiet end' : 'tiny alarm bold end'}>
        {fits ? amount : textWidth(long, 11) > width ? `over: ${amount}` : long}
      </text>
    </g>
  );
}
