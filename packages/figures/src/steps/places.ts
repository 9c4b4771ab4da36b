/** @file Where nodes and GPUs stand: nodes side by side with the slower link between them, or below each other. */
import { assertInvariant } from '@meshwright/core/errors';
import type { StepScript } from './script.ts';

/** A rectangle. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A node and how many of its GPUs are shown. */
export interface NodePlace extends Box {
  readonly node: number;
  readonly shown: number;
}

/** All places, from the top left of the first node. */
export interface Places {
  readonly width: number;
  readonly margin: number;
  readonly height: number;
  readonly nodes: readonly NodePlace[];
  readonly between: Box | undefined;
  readonly gpus: ReadonlyMap<number, Box>;
}

const GPU_HEIGHT = 132;
const pad = { side: 14, top: 28, bottom: 14 } as const;

/** Places for a script, 1060 or 360 pixels wide. */
export function placesOf({ gpus }: StepScript, size: 'wide' | 'narrow'): Places {
  const wide = size === 'wide';
  const [width, margin, gap] = wide ? [1060, 24, 44] : [360, 6, 26];
  const numbers = [...new Set(gpus.map(({ node }) => node))];
  const most = Math.max(...numbers.map((node) => gpus.filter((gpu) => gpu.node === node).length));
  const beside = wide && numbers.length > 1 ? 2 : 1;
  const perRow = wide ? Math.min(most, beside === 1 ? 4 : 2) : Math.min(most, 2);
  const strip = wide ? 104 : 30;
  const inner = width - 2 * margin;
  const nodeWidth = beside === 2 ? (inner - strip) / 2 : inner;
  const gpuWidth = (nodeWidth - 2 * pad.side - (perRow - 1) * gap) / perRow;
  const nodes: NodePlace[] = [];
  const boxes = new Map<number, Box>();
  let y = 0;
  let rowHeight = 0;
  for (const [index, node] of numbers.entries()) {
    const own = gpus.filter((gpu) => gpu.node === node);
    const rows = Math.ceil(own.length / perRow);
    const height = pad.top + rows * GPU_HEIGHT + (rows - 1) * (wide ? 34 : 22) + pad.bottom;
    const column = index % beside;
    if (index > 0 && column === 0) {
      y += rowHeight + strip / (wide ? 4 : 1);
      rowHeight = 0;
    }
    const x = margin + column * (nodeWidth + strip);
    nodes.push({ node, shown: own.length, x, y, width: nodeWidth, height });
    own.forEach(({ rank }, place) => {
      boxes.set(rank, {
        x: x + pad.side + (place % perRow) * (gpuWidth + gap),
        y: y + pad.top + Math.floor(place / perRow) * (GPU_HEIGHT + (wide ? 34 : 22)),
        width: gpuWidth,
        height: GPU_HEIGHT,
      });
    });
    rowHeight = Math.max(rowHeight, height);
  }
  return {
    width,
    margin,
    height: y + rowHeight,
    nodes,
    between: betweenOf(nodes, wide, strip, y + rowHeight),
    gpus: boxes,
  };
}

function betweenOf(nodes: readonly NodePlace[], wide: boolean, strip: number, height: number): Box | undefined {
  const [first] = nodes;
  if (!first || nodes.length < 2) return undefined;
  if (wide) return { x: first.x + first.width + 6, y: 0, width: strip - 12, height };
  return { x: first.x, y: first.height + 4, width: first.width, height: strip - 8 };
}

/** The box of a GPU. */
export function boxOf({ gpus }: Places, rank: number): Box {
  const box = gpus.get(rank);
  assertInvariant(box !== undefined, () => `rank ${rank} has no place`);
  return box;
}
