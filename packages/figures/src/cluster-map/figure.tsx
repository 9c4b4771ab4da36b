/** @file The cluster as a map: hosts with their GPUs, the group that a rank shares one axis with, and links as wide as what
 * crosses them.
 */
import { type AxisName, groupOf, type Mesh, worldSize } from '@meshwright/core/mesh';
import type { VNode } from 'preact';
import { onOperation, operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at } from '../svg/geometry.ts';
import { counted, layoutWords } from '../svg/words.ts';
import { LinkLegend, LinkLine, legendHeight, type MapLink } from './links.tsx';

/** What the map is drawn from. */
export interface ClusterMapProps {
  readonly mesh: Mesh;
  readonly gpusPerNode: number;
  /** The axis whose groups are marked. */
  readonly axis: AxisName;
  /** The rank whose group is filled. */
  readonly rank: number;
  /** What crosses the links in a step; without them none is drawn. */
  readonly links?: readonly MapLink[];
  readonly width?: number;
}

const margin = 8;
const cell = { width: 30, height: 22, gap: 4 } as const;
/** Hosts that are drawn; further ones are only counted. */
const MOST_NODES = 64;

/** Where hosts stand. */
interface Hosts {
  readonly drawn: number;
  readonly abreast: number;
  readonly columns: number;
  readonly box: { readonly width: number; readonly height: number };
  /** From one row of hosts to the next. */
  readonly pitch: number;
  readonly top: number;
}

function hostsOf({ mesh, gpusPerNode, axis, links = [], width = 1060 }: ClusterMapProps): Hosts {
  const world = worldSize(mesh);
  const drawn = Math.min(Math.ceil(world / gpusPerNode), MOST_NODES);
  const columns = Math.min(4, gpusPerNode);
  const rows = Math.ceil(Math.min(gpusPerNode, world) / columns);
  const inside = links.filter(({ between }) => !between).length * INSIDE;
  const box = { width: columns * (cell.width + cell.gap) + 12, height: rows * (cell.height + cell.gap) + 26 + inside };
  return {
    drawn,
    abreast: Math.max(1, Math.min(drawn, Math.floor((width - 2 * margin) / (box.width + 8)))),
    columns,
    box,
    pitch: box.height + (links.some(({ between }) => between) ? BETWEEN : 8),
    top: legendHeight(links, axis, width - 2 * margin) + 2,
  };
}

/** Pixels that a link inside of a host takes, and those between hosts. */
const [INSIDE, BETWEEN] = [14, 30] as const;

/** Hosts in rows; the group of the rank is filled, and hosts that it reaches have a strong border. */
export function ClusterMap(props: ClusterMapProps): VNode {
  const { mesh, gpusPerNode, axis, rank, links = [], width = 1060 } = props;
  const world = worldSize(mesh);
  const nodes = Math.ceil(world / gpusPerNode);
  const hosts = hostsOf(props);
  const { drawn, abreast, box, pitch, top } = hosts;
  const group = new Set(groupOf(mesh, rank, [axis]));
  const reached = new Set([...group].map((each) => Math.floor(each / gpusPerNode)));
  const height = top + Math.ceil(drawn / abreast) * pitch + (drawn < nodes ? 22 : 2);
  const title = `${counted(world, 'GPU')} on ${counted(nodes, 'host')}: ${layoutWords(mesh)}`;
  const description = `Rank ${rank} shares its ${axis} group with ranks ${[...group].slice(0, 64).join(', ')}, on ${counted(reached.size, 'host')}.`;
  return (
    <Frame width={width} height={height} title={title} description={description}>
      <g transform={`translate(${margin},0)`}>
        <LinkLegend links={links} axis={axis} width={width - 2 * margin} />
      </g>
      <Network links={links} hosts={hosts} />
      {Array.from({ length: drawn }, (_, node) => (
        <g
          key={`node ${node + 0}`}
          transform={`translate(${at(margin + (node % abreast) * (box.width + 8))},${at(Math.floor(node / abreast) * pitch + top)})`}
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
          <Inside links={links} box={box} />
          {Array.from({ length: Math.min(gpusPerNode, world - node * gpusPerNode) }, (_unused, slot) => (
            <GpuCell
              key={`gpu ${slot + 0}`}
              rank={node * gpusPerNode + slot}
              slot={slot}
              columns={hosts.columns}
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

/** The links inside of a host, below its GPUs. */
const Inside = ({ links, box }: { readonly links: readonly MapLink[]; readonly box: Hosts['box'] }): VNode => (
  <g>
    {links
      .filter(({ between }) => !between)
      .map((link, index) => (
        <LinkLine
          key={link.name}
          links={links}
          link={link}
          path={`M8,${box.height - 8 - index * INSIDE}H${box.width - 8}`}
        />
      ))}
  </g>
);

/** What joins hosts: a line under each row, with a leg from each host and one that joins the rows. */
function Network({ links, hosts }: { readonly links: readonly MapLink[]; readonly hosts: Hosts }): VNode | null {
  const link = links.find(({ between }) => between);
  if (!link) return null;
  const { drawn, abreast, box, pitch, top } = hosts;
  const rows = Math.ceil(drawn / abreast);
  const middle = (column: number): number => margin + column * (box.width + 8) + box.width / 2;
  const lineOf = (row: number): number => at(top + row * pitch + box.height + BETWEEN / 2);
  const paths = Array.from({ length: rows }, (_, row) => {
    const columns = Math.min(abreast, drawn - row * abreast);
    const legs = Array.from(
      { length: columns },
      (_unused, column) => `M${at(middle(column))},${at(top + row * pitch + box.height)}V${lineOf(row)}`,
    );
    return `M${rows > 1 ? 2 : at(middle(0))},${lineOf(row)}H${at(middle(columns - 1))}${legs.join('')}`;
  });
  const joined = rows > 1 ? `M2,${lineOf(0)}V${lineOf(rows - 1)}` : '';
  return <LinkLine links={links} link={link} path={`${paths.join('')}${joined}`} />;
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
