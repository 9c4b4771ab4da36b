/** @file A real run on this machine, through the local server: the losses of eight ranks over that of one, and the bytes that
 * really moved beside those predicted. Only there when `meshwright serve` opened the page.
 */

import { lessons, operationColour } from '@meshwright/figures';
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { type RunEvent, runJob } from '../app/run-job.ts';
import type { Server } from '../app/server.ts';
import type { ViewProps } from '../app/view-props.ts';
import { Heads } from '../parts/heads.tsx';
import { grouped, time } from '../parts/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';

type Step = Extract<RunEvent, { readonly kind: 'step' }>;
type Bytes = Extract<RunEvent, { readonly kind: 'bytes' }>['bytes'];

/** Layouts that the small model of the server runs under. */
const runLayouts: Readonly<Record<string, string>> = {
  data: 'dp=8',
  sharded: 'dp=8,zero=3',
  tensor: 'tp=8',
  pipeline: 'pp=8,mbs=1',
  'three-axes': 'tp=2,dp=2,pp=2,zero=1,mbs=2',
};

export function RunView({ server }: ViewProps): VNode {
  const layout = useSignal('three-axes');
  const steps = useSignal(12);
  const run = useRun(server);
  const { told, alone, bytes, says, running } = run;
  const choose = (text: string): void => void (steps.value = Math.max(1, Math.min(200, Number(text) || 1)));
  return (
    <section aria-label="Run">
      <h2>Run it for real</h2>
      <p>
        A transformer of eight layers is trained on this machine, one rank a thread, by the same kind of program that
        the figures draw; then once more on one rank, to compare.
      </p>
      <div class="choices">
        <label>
          Layout{' '}
          <select value={layout.value} onChange={({ currentTarget }) => void (layout.value = currentTarget.value)}>
            {lessons
              .filter(({ key }) => runLayouts[key] !== undefined)
              .map(({ key, name }) => (
                <option key={key} value={key}>
                  {name}
                </option>
              ))}
          </select>
        </label>
        <label>
          Steps{' '}
          <input
            class="amount"
            type="number"
            min={1}
            max={200}
            value={steps.value}
            onInput={({ currentTarget }) => choose(currentTarget.value)}
          />
        </label>
        <button
          type="button"
          class="main"
          disabled={running.value}
          onClick={() => void run.start(runLayouts[layout.value] ?? '', steps.value)}
        >
          Run
        </button>
        <button type="button" disabled={!running.value} onClick={() => run.stop()}>
          Stop
        </button>
      </div>
      <p role="status">{says.value}</p>
      {told.value.length > 0 && <Losses told={told.value} alone={alone.value} />}
      {told.value.length > 0 && <LossTable told={told.value} alone={alone.value} />}
      {bytes.value && <BytesTable bytes={bytes.value} />}
    </section>
  );
}

interface Run {
  readonly told: Signal<readonly Step[]>;
  readonly alone: Signal<readonly number[]>;
  readonly bytes: Signal<Bytes | undefined>;
  readonly says: Signal<string>;
  readonly running: Signal<boolean>;
  start(layout: string, steps: number): Promise<void>;
  stop(): void;
}

/** One run at a time, and what has been heard of it. */
function useRun(server: Server | undefined): Run {
  const told = useSignal<readonly Step[]>([]);
  const alone = useSignal<readonly number[]>([]);
  const bytes = useSignal<Bytes | undefined>(undefined);
  const says = useSignal('After Run: losses of both as they come, then the bytes that moved beside those predicted.');
  const running = useSignal(false);
  const controller = useRef<AbortController | undefined>(undefined);
  const hear = (event: RunEvent): void => {
    if (event.kind === 'step') told.value = [...told.value, event];
    else if (event.kind === 'alone') alone.value = [...alone.value, event.loss];
    else if (event.kind === 'bytes') bytes.value = event.bytes;
    else says.value = event.says;
  };
  const start = async (layout: string, steps: number): Promise<void> => {
    if (!server) return;
    told.value = [];
    alone.value = [];
    bytes.value = undefined;
    says.value = 'Running.';
    running.value = true;
    controller.current = new AbortController();
    try {
      await runJob(server, { layout, steps }, controller.current.signal, hear);
    } catch (error) {
      says.value = controller.current.signal.aborted ? 'Stopped.' : `The server does not answer: ${String(error)}`;
    } finally {
      running.value = false;
    }
  };
  return { told, alone, bytes, says, running, start, stop: () => controller.current?.abort() };
}

/** Losses of eight ranks (solid) over those of one rank (outline): they should coincide. */
function Losses({ told, alone }: { readonly told: readonly Step[]; readonly alone: readonly number[] }): VNode {
  const [width, height] = [900, 200];
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

const LossTable = ({ told, alone }: { readonly told: readonly Step[]; readonly alone: readonly number[] }): VNode => (
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

const BytesTable = ({ bytes }: { readonly bytes: Bytes }): VNode => (
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
