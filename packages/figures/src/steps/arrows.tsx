/** @file Arrows between GPUs, below their boxes: solid along a link, dashed where ranks between are not shown. */
import { bytes, formatBytes } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour } from '../palette/index.ts';
import { at } from '../svg/geometry.ts';
import { type Box, boxOf, type Places } from './places.ts';
import type { Moment } from './state.ts';

/** All links of a moment. */
export function Arrows({ moment, places }: { readonly moment: Moment; readonly places: Places }): VNode {
  const { links, step } = moment;
  const colour = operationColour(step?.kind === 'send' ? 'send' : 'collective');
  const many = links.length > 16;
  return (
    <g fill="none" stroke={colour}>
      {links.map(({ from, to, crosses, elided, bytes: size }) => {
        const [start, end] = ends(boxOf(places, from), boxOf(places, to));
        return (
          <g key={`${from}-${to}`}>
            <title>{`GPU ${from} to GPU ${to}: ${formatBytes(bytes(size))}${crosses ? ', between nodes' : ''}`}</title>
            <path
              class="go"
              pathLength="1"
              stroke-dasharray={elided ? '0.06 0.04' : '1'}
              d={`M${at(start.x)} ${at(start.y)}L${at(end.x)} ${at(end.y)}`}
              stroke-width={many ? 1 : crosses ? 3 : 2}
              stroke-opacity={many ? 0.55 : 1}
            />
            {!many && <path d={head(start, end)} fill={colour} stroke="none" />}
          </g>
        );
      })}
    </g>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** From border to border along the line between the centres, moved to the right of the way so that two arrows between
 * the same boxes do not lie on each other. */
function ends(from: Box, to: Box): readonly [Point, Point] {
  const [a, b] = [centre(from), centre(to)];
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const aside = { x: (-(b.y - a.y) / length) * 5, y: ((b.x - a.x) / length) * 5 };
  const moved = (point: Point): Point => ({ x: point.x + aside.x, y: point.y + aside.y });
  return [moved(leave(from, a, b, 2)), moved(leave(to, b, a, 3))];
}

const centre = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

/** Where the way from `inside` to `outside` leaves the box, `gap` pixels further. */
function leave({ width, height }: Box, inside: Point, outside: Point, gap: number): Point {
  const [dx, dy] = [outside.x - inside.x, outside.y - inside.y];
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : (width / 2 + gap) / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : (height / 2 + gap) / Math.abs(dy),
  );
  return { x: inside.x + dx * scale, y: inside.y + dy * scale };
}

function head(start: Point, end: Point): string {
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const along = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const back = { x: end.x - along.x * 8, y: end.y - along.y * 8 };
  const side = { x: -along.y * 4.5, y: along.x * 4.5 };
  return `M${at(end.x)} ${at(end.y)}L${at(back.x + side.x)} ${at(back.y + side.y)}L${at(back.x - side.x)} ${at(back.y - side.y)}z`;
}
