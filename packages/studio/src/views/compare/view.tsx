/** @file The ranked plans beside each other: time against memory with the front that nothing beats, and columns of two to four. */

import type { Shown } from '@meshwright/core/plan';
import { bytesBetween, fullestBytes, Ranking, type StepPart, stepParts } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ViewProps } from '../../app/view-props.ts';
import { useNarrow } from '../../parts/narrow.ts';
import { grouped, points, share, signed, size, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';
import { ScalingCurves, SensitivityStrip } from './sensitivity.tsx';

export function CompareView({ store }: ViewProps): VNode {
  const planned = store.planned.value;
  const chosen = useSignal<readonly string[]>([]);
  const narrow = useNarrow();
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
      {plans.length > 0 && (
        <figure class="plans">
          <Scroll name="Time against memory">
            <Ranking plans={plans} chosen={shorts} width={narrow ? 350 : 900} />
          </Scroll>
          <figcaption>Ringed: side by side below, where the same numbers stand.</figcaption>
        </figure>
      )}
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
      {plans[0] && <SensitivityStrip store={store} plans={plans} />}
      {plans[0] && <ScalingCurves store={store} gpus={plans[0].gpus} />}
    </section>
  );
}

function Columns({ plans, all }: { readonly plans: readonly Shown[]; readonly all: readonly Shown[] }): VNode {
  const [first] = plans;
  const parts = Object.keys(first?.step.partsSeconds ?? {}) as StepPart[];
  const used = parts.filter((part) => plans.some(({ step }) => step.partsSeconds[part] / step.seconds > 0.001));
  const rows: readonly (readonly [string, (plan: Shown) => number, (value: number) => string])[] = [
    ['step~', ({ step }) => step.seconds, time],
    ['tokens/s per GPU~', ({ step }) => step.tokensPerSecondPerGpu, grouped],
    ['MFU~', ({ step }) => step.mfu, share],
    ['fullest GPU~', fullestBytes, size],
    ['bubble', ({ pipeline }) => pipeline.bubbleShare, share],
    ['sent between hosts by a rank', ({ traffic }) => bytesBetween(traffic), size],
    ...used.map((part) => [stepParts[part].words, (plan: Shown) => plan.step.partsSeconds[part], time] as const),
  ];
  return (
    <Scroll name="Plans side by side">
      <table class="columns">
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
                    : `${words(value(plan))} (${signed(value(plan) - value(first), words === share ? points : words)})`}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
