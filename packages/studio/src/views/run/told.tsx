/** @file What a run has told so far: losses, and bytes by axis. */
import { operationColour } from '@meshwright/figures';
import type { VNode } from 'preact';
import type { Ran } from '../../app/store.ts';
import { Heads } from '../../parts/heads.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { grouped, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

type Told = Pick<Ran, 'told' | 'alone'>;

/** Losses of eight ranks (solid) over those of one rank (outline): they should coincide. */
export function Losses({ told, alone }: Told): VNode {
  const [width, height] = [useNarrow() ? 350 : 900, 200];
  const losses = [...told.map(({ loss }) => loss), ...alone];
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  const x = (index: number): number => 50 + (index / Math.max(1, told.length - 1)) * (width - 70);
  const y = (loss: number): number => 12 + ((high - loss) / Math.max(1e-9, high - low)) * (height - 40);
  const path = (values: readonly number[]): string =>
    `M${values.map((loss, index) => `${x(index).toFixed(1)},${y(loss).toFixed(1)}`).join('L')}`;
  return (
    <figure>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        role="img"
        aria-label="Loss of eight ranks and of one rank by step, as in the table"
      >
        <text x="0" y="18">
          {high.toFixed(4)}
        </text>
        <text x="0" y={height - 26}>
          {low.toFixed(4)}
        </text>
        {alone.length > 1 && (
          <path
            d={path(alone)}
            fill="none"
            stroke={operationColour('backward')}
            stroke-width="6"
            stroke-opacity="0.6"
          />
        )}
        {told.length > 1 && (
          <path
            d={path(told.map(({ loss }) => loss))}
            fill="none"
            stroke={operationColour('forward')}
            stroke-width="2"
          />
        )}
      </svg>
      <figcaption>Thin: eight ranks. Thick: the same model on one rank.</figcaption>
    </figure>
  );
}

export const LossTable = ({ told, alone }: Told): VNode => (
  <Scroll name="Losses">
    <table>
      <Heads columns={['#step', '#loss, eight ranks', '#loss, one rank', '#difference', '#time', '#tokens/s']} />
      <tbody>
        {told.map(({ step, loss, seconds, tokens }, index) => {
          const one = alone[index];
          return (
            <tr key={step}>
              <td class="number">{step}</td>
              <td class="number">{loss.toFixed(6)}</td>
              <td class="number">{one?.toFixed(6) ?? ''}</td>
              <td class="number">{one === undefined ? '' : (loss - one).toExponential(1)}</td>
              <td class="number">{time(seconds)}</td>
              <td class="number">{grouped(tokens / seconds)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </Scroll>
);

export const BytesTable = ({ bytes }: { readonly bytes: NonNullable<Ran['bytes']> }): VNode => (
  <table>
    <caption>Bytes of all ranks over the whole run</caption>
    <Heads columns={['axis', '#predicted', '#moved', 'equal']} />
    <tbody>
      {Object.entries(bytes).map(([axis, { predicted, moved }]) => (
        <tr key={axis}>
          <td>{axis}</td>
          <td class="number">{grouped(predicted)}</td>
          <td class="number">{grouped(moved)}</td>
          <td>{predicted === moved ? '\u2713' : 'no'}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
