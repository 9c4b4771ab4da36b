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
}

const [width, height, left, right, bottom] = [900, 340, 56, 24, 56] as const;
const time = (value: number): string => formatSeconds(seconds(value));
const gibibytes = (value: number): number => value / 2 ** 30;

/** Filled: no other plan is both faster and smaller. */
export function Ranking({ plans, chosen = [] }: RankingProps): VNode {
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
      <Axes x={x} y={y} capacity={gibibytes(capacity)} />
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
            stroke-width={chosen.includes(plan.layout.short) ? 4 : 1.5}
          />
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
const room = { from: 10, to: 40, high: 12 } as const;

/** The number of a spot: right of it, or left or above where another spot stands there. */
function Label({ at: index, spots }: { readonly at: number; readonly spots: readonly Spot[] }): VNode {
  const { x, y } = spots[index] as Spot;
  const taken = (from: number, to: number): boolean =>
    spots.some((other, each) => {
      const across = other.x - x;
      return each !== index && across > from - 9 && across < to + 9 && Math.abs(other.y - y) < room.high;
    });
  const words = `#${index + 1}`;
  if (!taken(room.from, room.to))
    return (
      <text x={at(x + 12)} y={at(y + 4)}>
        {words}
      </text>
    );
  if (!taken(-room.to, -room.from))
    return (
      <text x={at(x - 12)} y={at(y + 4)} class="end">
        {words}
      </text>
    );
  return (
    <text x={at(x)} y={at(y - 12)} class="middle">
      {words}
    </text>
  );
}

const sizeOf = (plan: Shown): string => formatBytes(bytes(fullestBytes(plan)));

type Scale = ReturnType<typeof scaleLinear<number, number>>;

interface AxesProps {
  readonly x: Scale;
  readonly y: Scale;
  /** GiB that can be allocated: what is above does not fit. */
  readonly capacity: number;
}

const Axes = ({ x, y, capacity }: AxesProps): VNode => (
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
    {x.ticks(6).map((tick) => (
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
