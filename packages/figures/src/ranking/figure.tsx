/** @file Plans by the time of a step and the memory of the fullest GPU, with the front that nothing beats. */
import type { Shown } from '@meshwright/core/plan';
import { bytes, formatBytes, formatSeconds, seconds } from '@meshwright/core/units';
import { scaleLinear } from 'd3-scale';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at } from '../svg/geometry.ts';
import { counted } from '../svg/words.ts';
import { frontOf, fullestBytes } from './front.ts';

/** What the figure is drawn from. */
export interface RankingProps {
  /** Best first. */
  readonly plans: readonly Shown[];
  /** Short forms of those that stand out. */
  readonly chosen?: readonly string[];
  /** Pixels; 900 when absent. */
  readonly width?: number;
}

const [height, left, right, bottom] = [340, 40, 12, 56] as const;
const time = (value: number): string => formatSeconds(seconds(value));
const gibibytes = (value: number): number => value / 2 ** 30;

/** Filled: no other plan is both faster and smaller. */
export function Ranking({ plans, chosen = [], width = 900 }: RankingProps): VNode {
  const capacity = plans[0]?.memory.capacityBytes ?? 1;
  const times = plans.map(({ step }) => step.seconds);
  const x = scaleLinear([Math.min(...times) * 0.97, Math.max(...times) * 1.03], [left, width - right - 40]).nice();
  const most = gibibytes(Math.max(capacity, ...plans.map(fullestBytes))) * 1.08;
  const y = scaleLinear([0, most], [height - bottom, 16]);
  const front = frontOf(plans);
  const spots = plans.map((plan) => ({
    plan,
    x: at(x(plan.step.seconds)),
    y: at(y(gibibytes(fullestBytes(plan)))),
    onFront: front.includes(plan),
  }));
  const line = front.map((plan) => spots.find((spot) => spot.plan === plan)).map((spot) => `${spot?.x},${spot?.y}`);
  const title = `${counted(plans.length, 'plan')}: time against memory`;
  const told = plans.map((plan, index) => `#${index + 1} ${time(plan.step.seconds)}, ${sizeOf(plan)}`).join('; ');
  return (
    <Frame width={width} height={height} title={title} description={`${told}.`}>
      <Axes x={x} y={y} width={width} capacity={gibibytes(capacity)} />
      {line.length > 1 && (
        <path d={`M${line.join('L')}`} fill="none" stroke={operationColour('forward')} stroke-width="2" />
      )}
      {spots.map(({ plan, x: across, y: down, onFront }, index) => (
        <g key={plan.layout.short}>
          <title>{`#${index + 1} ${plan.layout.short}: ${time(plan.step.seconds)}, ${sizeOf(plan)}`}</title>
          <circle
            cx={across}
            cy={down}
            r="8"
            fill={onFront ? operationColour('forward') : surface('background')}
            stroke={operationColour('forward')}
            stroke-width="1.5"
          />
          {chosen.includes(plan.layout.short) && (
            <circle cx={across} cy={down} r="11" fill="none" stroke={surface('text')} stroke-width="2" />
          )}
          <Label at={index} spots={spots} />
        </g>
      ))}
      <text x="4" y={height - 6} class="small quiet">
        Filled: no other plan is both faster and smaller.
      </text>
    </Frame>
  );
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Room that a label takes beside its spot. */
const room = { from: 13, to: 42, high: 12 } as const;

/** Where the number of a spot may stand, the best place first: right of it, left, above, below. */
const labelPlaces = [
  { from: [room.from, room.to], high: [-room.high, room.high], x: 15, y: 4, anchor: undefined },
  { from: [-room.to, -room.from], high: [-room.high, room.high], x: -15, y: 4, anchor: 'end' },
  { from: [-16, 16], high: [-36, -8], x: 0, y: -15, anchor: 'middle' },
  { from: [-16, 16], high: [8, 36], x: 0, y: 24, anchor: 'middle' },
] as const;

/** The number of a spot where no other spot stands. */
function Label({ at: index, spots }: { readonly at: number; readonly spots: readonly Spot[] }): VNode {
  const { x, y } = spots[index] as Spot;
  const isFree = ({ from, high }: (typeof labelPlaces)[number]): boolean =>
    spots.every((other, each) => {
      const [across, down] = [other.x - x, other.y - y];
      const isBeside = across > from[0] - 9 && across < from[1] + 9;
      return each === index || !isBeside || down <= high[0] || down >= high[1];
    });
  const place = labelPlaces.find(isFree) ?? labelPlaces[2];
  return (
    <text x={at(x + place.x)} y={at(y + place.y)} class={place.anchor}>
      {`#${index + 1}`}
    </text>
  );
}

const sizeOf = (plan: Shown): string => formatBytes(bytes(fullestBytes(plan)));

type Scale = ReturnType<typeof scaleLinear<number, number>>;

interface AxesProps {
  readonly x: Scale;
  readonly y: Scale;
  /** Of the figure. */
  readonly width: number;
  /** GiB that can be allocated: what is above does not fit. */
  readonly capacity: number;
}

const Axes = ({ x, y, width, capacity }: AxesProps): VNode => (
  <g>
    <rect
      x={left}
      width={width - right - left}
      y="16"
      height={at(Math.max(0, y(capacity) - 16))}
      fill="url(#mw-over)"
    />
    {y.ticks(5).map((tick) => (
      <g key={`y${tick}`}>
        <line x1={left} x2={width - right} y1={at(y(tick))} y2={at(y(tick))} stroke={surface('line')} />
        <text x={left - 8} y={at(y(tick) + 4)} class="end">
          {tick}
        </text>
      </g>
    ))}
    {x.ticks(width > 600 ? 6 : 3).map((tick) => (
      <text key={`x${tick}`} x={at(x(tick))} y={height - bottom + 18} class="middle">
        {time(tick)}
      </text>
    ))}
    <text x={width - right} y={height - bottom + 34} class="end quiet">
      step time~
    </text>
    <text x="4" y="12" class="quiet">
      GiB~, dashed: capacity
    </text>
    <line
      x1={left}
      x2={width - right}
      y1={at(y(capacity))}
      y2={at(y(capacity))}
      stroke={surface('alarm')}
      stroke-width="1.5"
      stroke-dasharray="6 4"
    />
  </g>
);
