/** @file The ranked plans beside each other: time against memory with the front that nothing beats, and columns of two to four. */

import type { Shown } from '@meshwright/core/plan';
import { operationColour } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import { scaleLinear } from 'd3-scale';
import type { VNode } from 'preact';
import type { ViewProps } from '../app/view-props.ts';
import { grouped, share, signed, size, time } from '../parts/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';

export function CompareView({ store }: ViewProps): VNode {
  const planned = store.planned.value;
  const chosen = useSignal<readonly string[]>([]);
  if (!planned)
    return (
      <div class="skeleton" style={{ height: '420px' }}>
        <p role="status">The plans are being evaluated.</p>
      </div>
    );
  const { plans } = planned;
  const fallback = plans.slice(0, 2).map(({ layout }) => layout.short);
  const known = chosen.value.filter((short) => plans.some(({ layout }) => layout.short === short));
  const shorts = known.length >= 2 ? known : fallback;
  const toggle = (short: string): void => {
    const next = shorts.includes(short) ? shorts.filter((each) => each !== short) : [...shorts, short];
    chosen.value = next.slice(-4);
  };
  const columns = shorts.flatMap((short) => plans.find(({ layout }) => layout.short === short) ?? []);
  return (
    <section aria-label="Compare">
      <h2>{`${plans.length} plans: time against memory`}</h2>
      {plans.length > 0 && <Scatter plans={plans} chosen={shorts} />}
      <fieldset>
        <legend>Side by side, two to four</legend>
        {plans.map(({ layout }, index) => (
          <button
            key={layout.short}
            type="button"
            aria-pressed={shorts.includes(layout.short)}
            title={layout.short}
            onClick={() => toggle(layout.short)}
          >
            {`#${index + 1}`}
          </button>
        ))}
      </fieldset>
      {columns.length >= 2 && <Columns plans={columns} all={plans} />}
    </section>
  );
}

const memoryOf = ({ memory }: Shown): number => Math.max(...memory.stages.map(({ deviceBytes }) => deviceBytes));

const gibibytes = (bytes: number): number => bytes / 2 ** 30;

/** Plans that no other one beats in time and in memory, by time. */
export function frontOf(plans: readonly Shown[]): readonly Shown[] {
  return plans
    .filter(
      (one) =>
        !plans.some(
          (other) => other !== one && other.step.seconds <= one.step.seconds && memoryOf(other) <= memoryOf(one),
        ),
    )
    .sort((a, b) => a.step.seconds - b.step.seconds);
}

interface ScatterProps {
  readonly plans: readonly Shown[];
  readonly chosen: readonly string[];
}

const [width, height, left, bottom] = [900, 320, 64, 40] as const;
type Scale = ReturnType<typeof scaleLinear<number, number>>;

interface AxesProps {
  readonly x: Scale;
  readonly y: Scale;
  readonly capacity: number | undefined;
}

const Axes = ({ x, y, capacity }: AxesProps): VNode => (
  <g>
    {y.ticks(5).map((tick) => (
      <g key={`y${tick}`}>
        <line x1={left} x2={width - 16} y1={y(tick)} y2={y(tick)} stroke="var(--mw-line)" />
        <text x={left - 8} y={y(tick) + 4} text-anchor="end">
          {tick}
        </text>
      </g>
    ))}
    {x.ticks(6).map((tick) => (
      <text key={`x${tick}`} x={x(tick)} y={height - bottom + 18} text-anchor="middle">
        {time(tick)}
      </text>
    ))}
    <text x={width - 16} y={height - 4} text-anchor="end">
      step time~
    </text>
    <text x="0" y="10">
      GiB~
    </text>
    {capacity !== undefined && (
      <g>
        <line
          x1={left}
          x2={width - 16}
          y1={y(gibibytes(capacity))}
          y2={y(gibibytes(capacity))}
          stroke="var(--mw-alarm)"
          stroke-dasharray="6 4"
        />
        <text x={width - 16} y={y(gibibytes(capacity)) - 5} text-anchor="end">
          capacity
        </text>
      </g>
    )}
  </g>
);

function Scatter({ plans, chosen }: ScatterProps): VNode {
  const [capacity] = plans.map(({ memory }) => memory.capacityBytes);
  const times = plans.map(({ step }) => step.seconds);
  const x = scaleLinear([Math.min(...times) * 0.97, Math.max(...times) * 1.03], [left, width - 16]).nice();
  const y = scaleLinear([0, gibibytes(Math.max(capacity ?? 0, ...plans.map(memoryOf))) * 1.08], [height - bottom, 12]);
  const front = frontOf(plans);
  const line = front
    .map((plan) => `${x(plan.step.seconds).toFixed(1)},${y(gibibytes(memoryOf(plan))).toFixed(1)}`)
    .join('L');
  return (
    <figure>
      <Scroll name="Time against memory">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          role="img"
          aria-label="Plans by step time and by memory of the fullest GPU; the table below has the same numbers"
        >
          <Axes x={x} y={y} capacity={capacity} />
          {front.length > 1 && <path d={`M${line}`} fill="none" stroke={operationColour('forward')} stroke-width="2" />}
          {plans.map((plan, index) => {
            const onFront = front.includes(plan);
            const { short } = plan.layout;
            return (
              <g key={short}>
                <title>{`#${index + 1} ${short}: ${time(plan.step.seconds)}, ${size(memoryOf(plan))}`}</title>
                <circle
                  cx={x(plan.step.seconds)}
                  cy={y(gibibytes(memoryOf(plan)))}
                  r="8"
                  fill={onFront ? operationColour('forward') : 'var(--mw-background)'}
                  stroke={operationColour('forward')}
                  stroke-width={chosen.includes(short) ? 4 : 1.5}
                />
                <text x={x(plan.step.seconds) + 12} y={y(gibibytes(memoryOf(plan))) + 4}>{`#${index + 1}`}</text>
              </g>
            );
          })}
        </svg>
      </Scroll>
      <figcaption>Filled: no other plan is both faster and smaller. Strong outline: side by side below.</figcaption>
    </figure>
  );
}

function Columns({ plans, all }: { readonly plans: readonly Shown[]; readonly all: readonly Shown[] }): VNode {
  const [first] = plans;
  const parts = Object.keys(first?.step.partsSeconds ?? {}) as (keyof Shown['step']['partsSeconds'])[];
  const used = parts.filter((part) => plans.some(({ step }) => step.partsSeconds[part] / step.seconds > 0.001));
  const rows: readonly (readonly [string, (plan: Shown) => number, (value: number) => string])[] = [
    ['step~', ({ step }) => step.seconds, time],
    ['tokens/s per GPU~', ({ step }) => step.tokensPerSecondPerGpu, grouped],
    ['MFU~', ({ step }) => step.mfu, share],
    ['fullest GPU~', memoryOf, size],
    ['bubble', ({ pipeline }) => pipeline.bubbleShare, share],
    [
      'sent between hosts by a rank',
      ({ traffic }) =>
        traffic.filter(({ crossesNode }) => crossesNode).reduce((sum, { bytesPerRank }) => sum + bytesPerRank, 0),
      size,
    ],
    ...used.map((part) => [partWords[part] ?? part, (plan: Shown) => plan.step.partsSeconds[part], time] as const),
  ];
  return (
    <Scroll name="Plans side by side">
      <table>
        <thead>
          <tr>
            <th scope="col">what</th>
            {plans.map((plan) => (
              <th
                key={plan.layout.short}
                scope="col"
                class="number"
              >{`#${all.indexOf(plan) + 1}: tp ${plan.layout.tensor} pp ${plan.layout.pipeline} dp ${plan.layout.data}`}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([what, value, words]) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              {plans.map((plan, index) => (
                <td key={plan.layout.short} class="number">
                  {index === 0 || first === undefined
                    ? words(value(plan))
                    : `${words(value(plan))} (${signed(value(plan) - value(first), words)})`}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const partWords: Readonly<Record<string, string>> = {
  ideal: 'compute at peak rate',
  inefficiency: 'what it takes beyond that',
  memoryBound: 'other kernels',
  recompute: 'recomputation',
  tensor: 'waiting: tensor',
  data: 'waiting: data',
  context: 'waiting: context',
  expert: 'waiting: expert',
  pipelineSend: 'waiting: sends',
  bubble: 'pipeline bubble, seconds',
  host: 'waiting: the host',
};
