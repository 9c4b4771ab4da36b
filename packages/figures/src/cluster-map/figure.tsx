/** @file The cluster as a map: hosts with their GPUs, and the group that a rank shares one axis with. */
import { type AxisName, groupOf, type Mesh, worldSize } from '@meshwright/core/mesh';
import type { VNode } from 'preact';
import { onOperation, operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at } from '../svg/geometry.ts';
import { counted, layoutWords } from '../svg/words.ts';

/** What the map is drawn from. */
export interface ClusterMapProps {
  readonly mesh: Mesh;
  readonly gpusPerNode: number;
  /** The axis whose groups are marked. */
  readonly axis: AxisName;
  /** The rank whose group is filled. */
  readonly rank: number;
  readonly width?: number;
}

const margin = 8;
const cell = { width: 30, height: 22, gap: 4 } as const;
/** Hosts that are drawn; further ones are only counted. */
const MOST_NODES = 64;

/** Hosts in rows; the group of the rank is filled, and hosts that it reaches have a strong border. */
export function ClusterMap({ mesh, gpusPerNode, axis, rank, width = 1060 }: ClusterMapProps): VNode {
  const world = worldSize(mesh);
  const nodes = Math.ceil(world / gpusPerNode);
  const drawn = Math.min(nodes, MOST_NODES);
  const columns = Math.min(4, gpusPerNode);
  const rows = Math.ceil(Math.min(gpusPerNode, world) / columns);
  const box = { width: columns * (cell.width + cell.gap) + 12, height: rows * (cell.height + cell.gap) + 26 };
  const abreast = Math.max(1, Math.min(drawn, Math.floor((width - 2 * margin) / (box.width + 8))));
  const group = new Set(groupOf(mesh, rank, [axis]));
  const reached = new Set([...group].map((each) => Math.floor(each / gpusPerNode)));
  const height = Math.ceil(drawn / abreast) * (box.height + 8) + (drawn < nodes ? 24 : 4);
  const title = `${counted(world, 'GPU')} on ${counted(nodes, 'host')}: ${layoutWords(mesh)}`;
  const description = `Rank ${rank} shares its ${axis} group with ranks ${[...group].slice(0, 64).join(', ')}, on ${counted(reached.size, 'host')}.`;
  return (
    <Frame width={width} height={height} title={title} description={description}>
      {Array.from({ length: drawn }, (_, node) => (
        <g
          key={`node ${node + 0}`}
          transform={`translate(${at(margin + (node % abreast) * (box.width + 8))},${at(Math.floor(node / abreast) * (box.height + 8) + 2)})`}
        >
          <rect
            width={box.width}
            height={box.height}
            rx="5"
            fill={surface('panel')}
            stroke={reached.has(node) ? surface('text') : surface('line')}
            stroke-width={reached.has(node) ? 2 : 1}
          />
          <text x="8" y="16" class="small">{`host ${node}`}</text>
          {Array.from({ length: Math.min(gpusPerNode, world - node * gpusPerNode) }, (_unused, slot) => (
            <GpuCell
              key={`gpu ${slot + 0}`}
              rank={node * gpusPerNode + slot}
              slot={slot}
              columns={columns}
              filled={group.has(node * gpusPerNode + slot)}
              self={node * gpusPerNode + slot === rank}
            />
          ))}
        </g>
      ))}
      {drawn < nodes && (
        <text x={margin} y={height - 8} class="small quiet">
          {`${counted(nodes - drawn, 'more host')} of the same kind`}
        </text>
      )}
    </Frame>
  );
}

interface CellProps {
  readonly rank: number;
  readonly slot: number;
  readonly columns: number;
  readonly filled: boolean;
  readonly self: boolean;
}

function GpuCell({ rank, slot, columns, filled, self }: CellProps): VNode {
  const x = 8 + (slot % columns) * (cell.width + cell.gap);
  const y = 22 + Math.floor(slot / columns) * (cell.height + cell.gap);
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={cell.width}
        height={cell.height}
        rx="3"
        fill={filled ? operationColour('collective') : surface('background')}
        stroke={self ? surface('text') : surface('line')}
        stroke-width={self ? 2.5 : 1}
      />
      <text
        x={x + cell.width / 2}
        y={y + 15}
        class={self ? 'small middle bold' : 'small middle'}
        style={filled ? `fill:${onOperation('collective')}` : undefined}
      >
        {rank}
      </text>
    </g>
  );
}
