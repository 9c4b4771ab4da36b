/** @file One GPU: four maps of the model with what it holds filled in, and how full that makes it. */

import { bytes, formatBytes } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { type MemoryRole, memoryColour, surface } from '../palette/index.ts';
import { at } from '../svg/geometry.ts';
import { axisWords, rangeOf } from '../svg/words.ts';
import type { GpuFacts, StepFacts } from './facts.ts';
import type { Area, Shelf } from './holdings.ts';

/** Height of a GPU's box. */
export const GPU_HEIGHT = 184;

const pad = 10;
const map = { left: 28, height: 24, step: 29, beside: 87 } as const;
const letters: Readonly<Record<MemoryRole, string>> = {
  weights: 'W',
  gradients: 'G',
  optimizer: 'O',
  activations: 'A',
  buffers: 'B',
  reserve: 'R',
};

interface GpuProps {
  readonly facts: StepFacts;
  readonly gpu: GpuFacts;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The box of one GPU, its corner at (x, y). */
export function Gpu({ facts, gpu, x, y, width }: GpuProps): VNode {
  const axes = facts.program.mesh.axes.filter(({ degree }) => degree > 1);
  const place = axes.map(({ name }) => `${axisWords[name].coordinate} ${gpu.coordinate[name]}`).join(' \u00b7 ');
  return (
    <g transform={`translate(${at(x)},${at(y)})`}>
      <rect width={at(width)} height={GPU_HEIGHT} rx="4" fill={surface('background')} stroke={surface('line')} />
      <text x={pad} y="19" class="h2">
        GPU {gpu.rank}
      </text>
      <text x={at(width - pad)} y="19" class="small quiet end">
        {place}
      </text>
      {gpu.shelves.map((shelf, index) => (
        <ShelfRow key={shelf.role} shelf={shelf} y={30 + index * map.step} width={width} />
      ))}
      <Fill facts={facts} gpu={gpu} y={30 + 4 * map.step + 3} width={width - 2 * pad} />
    </g>
  );
}

interface RowProps {
  readonly shelf: Shelf;
  readonly y: number;
  /** Of the box. */
  readonly width: number;
}

function ShelfRow({ shelf, y, width }: RowProps): VNode {
  const { role, areas } = shelf;
  const mapWidth = at(width - map.left - map.beside);
  const amount = formatBytes(bytes(shelf.bytes));
  return (
    <g>
      <title>{`${role}: ${amount}`}</title>
      <text x={pad} y={y + 16} class="bold">
        {letters[role]}
      </text>
      <rect x={map.left} y={y} width={mapWidth} height={map.height} fill={surface('panel')} />
      <path fill={memoryColour(role)} d={areas.map((each) => areaPath(each, mapWidth, y)).join('')} />
      <rect x={map.left} y={y} width={mapWidth} height={map.height} fill="none" stroke={surface('line')} />
      <text x={at(width - pad)} y={y + 16} class="end">
        {amount}
      </text>
    </g>
  );
}

const THINNEST = 1;

/** A rectangle of the map as a path; never thinner than what can be seen. */
function areaPath({ x, y }: Area, mapWidth: number, top: number): string {
  const width = Math.max(THINNEST, (x[1] - x[0]) * mapWidth);
  const height = Math.max(THINNEST, (y[1] - y[0]) * map.height);
  const left = map.left + Math.min(x[0] * mapWidth, mapWidth - width);
  return `M${at(left)} ${at(top + y[0] * map.height)}h${at(width)}v${at(height)}h${at(-width)}z`;
}

interface FillProps {
  readonly facts: StepFacts;
  readonly gpu: GpuFacts;
  readonly y: number;
  /** Of the bar. */
  readonly width: number;
}

/** All of it against the capacity of the device. */
function Fill({ facts: { capacityBytes }, gpu, y, width }: FillProps): VNode {
  const { peakBytes, shelves, otherBytes } = gpu;
  const fits = peakBytes <= capacityBytes;
  const scale = width / Math.max(peakBytes, capacityBytes);
  const limit = at(pad + capacityBytes * scale);
  const held = [...shelves.map(({ role, bytes: size }) => [role, size] as const), ['buffers', otherBytes] as const];
  let left = pad;
  const bars = held.map(([role, size]) => {
    const bar = <rect key={role} x={at(left)} y={y} width={at(size * scale)} height="8" fill={memoryColour(role)} />;
    left += size * scale;
    return bar;
  });
  return (
    <g>
      <rect x={pad} y={y} width={at(width)} height="8" fill={surface('panel')} />
      {bars}
      {!fits && <rect x={limit} y={y} width={at(pad + width - limit)} height="8" fill="url(#mw-over)" />}
      <rect x={pad} y={y} width={at(capacityBytes * scale)} height="8" fill="none" stroke={surface('quiet')} />
      {!fits && <line x1={limit} x2={limit} y1={y - 3} y2={y + 11} stroke={surface('text')} stroke-width="2" />}
      <text x={pad} y={y + 23} class={fits ? 'small quiet' : 'small alarm bold'}>
        {`${fits ? 'tensors at the peak:' : 'tensors do not fit:'} ${rangeOf(formatBytes(bytes(peakBytes)), formatBytes(bytes(capacityBytes)), 'of')}`}
      </text>
    </g>
  );
}
