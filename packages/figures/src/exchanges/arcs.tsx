/** @file Who exchanges with whom on one axis: the shown ranks in a row, node by node, and an arc for each pair. */
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { at } from '../svg/geometry.ts';
import type { AxisFacts, StepFacts } from './facts.ts';

const cell = { size: 26, gap: 7, nodeGap: 24 } as const;
const TALLEST = 58;

/** Height of the drawing of an axis. */
export const arcsHeight = (facts: StepFacts, axis: AxisFacts): number => rowOf(axis, placesOf(facts)) + cell.size + 24;

interface ArcsProps {
  readonly facts: StepFacts;
  readonly axis: AxisFacts;
}

/** The arcs of one axis, their corner at the origin. */
export function Arcs({ facts, axis }: ArcsProps): VNode {
  const places = placesOf(facts);
  const colour = operationColour(axis.chain ? 'send' : 'collective');
  const row = rowOf(axis, places);
  return (
    <g>
      {nodesOf(facts, places).map(({ node, from, to }) => (
        <g key={node}>
          <rect
            x={at(from - 5)}
            y={row - 5}
            width={at(to - from + 10)}
            height={cell.size + 10}
            rx="4"
            fill={surface('panel')}
          />
          <text x={at((from + to) / 2)} y={row + cell.size + 20} class="small quiet middle">
            {`node ${node}`}
          </text>
        </g>
      ))}
      {axis.shownGroups.map((group, index) => (
        <Group key={group[0]} group={group} axis={axis} places={places} row={row} colour={colour} first={index === 0} />
      ))}
      {facts.gpus.map(({ rank }) => {
        const inFirst = axis.shownGroups[0]?.includes(rank) === true;
        return (
          <g key={rank}>
            <rect
              x={at((places.get(rank) ?? 0) - cell.size / 2)}
              y={row}
              width={cell.size}
              height={cell.size}
              rx="3"
              fill={surface('background')}
              stroke={inFirst ? colour : surface('line')}
              stroke-width={inFirst ? 2 : 1}
            />
            <text x={at(places.get(rank) ?? 0)} y={row + 17} class="small middle">
              {rank}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface GroupProps {
  readonly group: readonly number[];
  readonly axis: AxisFacts;
  /** Centres of the ranks. */
  readonly places: ReadonlyMap<number, number>;
  readonly row: number;
  readonly colour: string;
  readonly first: boolean;
}

/** Arcs between neighbours, and back to the first where the group is a ring; dashed where members are not shown. */
function Group({ group, axis, places, row, colour, first }: GroupProps): VNode {
  const pairs = pairsOf(axis, group);
  const elided = axis.degree > group.length;
  return (
    <g>
      <title>{`ranks ${group.join(', ')}${elided ? ` of a group of ${axis.degree}` : ''}`}</title>
      {pairs.map(([one, other]) => (
        <path
          key={`${one}-${other}`}
          d={arc(places.get(one) ?? 0, places.get(other) ?? 0, row)}
          fill="none"
          stroke={colour}
          stroke-width={first ? 2.5 : 1.2}
          stroke-opacity={first ? 1 : 0.75}
          stroke-dasharray={elided && !neighbours(group, one, other) ? '4 3' : undefined}
        />
      ))}
    </g>
  );
}

/** Shown members stand at both ends of a long axis: the pair in the middle is none. */
const neighbours = (group: readonly number[], one: number, other: number): boolean =>
  group.length > 2 && other - one === (group[1] ?? 0) - (group[0] ?? 0);

const arcHeight = (from: number, to: number): number => Math.min(TALLEST, 12 + Math.abs(to - from) * 0.19);

/** Neighbours of a group in order, and last with first where it is a ring. */
function pairsOf({ chain }: AxisFacts, group: readonly number[]): readonly (readonly [number, number])[] {
  const pairs = group.slice(1).map((rank, index) => [group[index] ?? rank, rank] as const);
  const [start] = group;
  const last = group.at(-1);
  return chain || group.length < 3 || start === undefined || last === undefined ? pairs : [...pairs, [start, last]];
}

/** Where the row of ranks begins: below the tallest arc. */
function rowOf(axis: AxisFacts, places: ReadonlyMap<number, number>): number {
  const pairs = axis.shownGroups.flatMap((group) => pairsOf(axis, group));
  const heights = pairs.map(([one, other]) => arcHeight(places.get(one) ?? 0, places.get(other) ?? 0));
  return 8 + Math.max(0, ...heights);
}

function arc(from: number, to: number, row: number): string {
  const height = arcHeight(from, to);
  return `M${at(from)} ${row}C${at(from)} ${at(row - height * 1.3)} ${at(to)} ${at(row - height * 1.3)} ${at(to)} ${row}`;
}

function placesOf({ gpus }: StepFacts): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  let x = cell.size / 2 + 6;
  gpus.forEach(({ rank, node }, index) => {
    if (index > 0) x += cell.size + (gpus[index - 1]?.node === node ? cell.gap : cell.nodeGap);
    places.set(rank, x);
  });
  return places;
}

interface NodePlace {
  readonly node: number;
  readonly from: number;
  readonly to: number;
}

function nodesOf({ gpus }: StepFacts, places: ReadonlyMap<number, number>): readonly NodePlace[] {
  return [...new Set(gpus.map(({ node }) => node))].map((node) => {
    const centres = gpus.filter((gpu) => gpu.node === node).map(({ rank }) => places.get(rank) ?? 0);
    return { node, from: Math.min(...centres) - cell.size / 2, to: Math.max(...centres) + cell.size / 2 };
  });
}
