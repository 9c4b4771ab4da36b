/** @file What failures cost the plan, how often a checkpoint is worth its time, and what to do when a host dies. */
import type { FailureOptions, Shown } from '@meshwright/core/plan';
import { bytesPerSecond, formatDuration, formatRate, seconds } from '@meshwright/core/units';
import { Checkpoints } from '@meshwright/figures';
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import type { FailureAnswer } from '../../engine/failures.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { grouped, share, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';

const long = (value: number): string => formatDuration(seconds(value));

/** The rates, the curve with its least, and the choices when a host dies. */
export function FailurePanel({ store, plan }: { readonly store: Store; readonly plan: Shown }): VNode {
  const { nodes } = store.place.value.scenario;
  const options = useSignal<FailureOptions>({});
  const narrow = useNarrow();
  const job = {
    devices: plan.gpus,
    nodes,
    checkpointBytes: plan.storage.checkpoint.bytes,
    stepSeconds: plan.step.seconds,
  };
  const answer = useAnswer(JSON.stringify([job, options.value]), () =>
    store.quickly.ask('failures', job, options.value),
  );
  return (
    <section aria-label="Failures and checkpoints">
      <h3>Failures and checkpoints</h3>
      <div class="choices">
        <Rate name="Hours of a GPU between failures" of="deviceHours" scale={1} options={options} />
        <Rate name="GB/s of storage, all hosts together" of="storageBytesPerSecond" scale={1e9} options={options} />
        <Rate name="Seconds of a restart" of="restartSeconds" scale={1} options={options} />
      </div>
      <Pending known={answer.value} words="Counting what failures cost." height={420}>
        {(found) => (
          <>
            <p role="status">{wordsOf(found, plan)}</p>
            <Scroll name="Figure of checkpoints">
              <Checkpoints failures={found.failures} curve={found.curve} width={narrow ? 350 : 760} />
            </Scroll>
            <LostTable found={found} step={plan.step.seconds} />
            {nodes > 1 && <Choices store={store} plan={plan} found={found} />}
            <Assumed found={found} />
          </>
        )}
      </Pending>
    </section>
  );
}

function wordsOf({ failures }: FailureAnswer, { gpus }: Shown): string {
  const { meanSeconds, writeSeconds, intervalSeconds, intervalSteps, lost, rare } = failures;
  const law = rare
    ? ''
    : ' Writing takes more than a tenth of the time between failures: more is lost than this law says.';
  return `Failures stop ${grouped(gpus)} GPUs once in ${long(meanSeconds)}~, and a checkpoint takes ${time(writeSeconds)}~ to write. One every ${long(intervalSeconds)} (${grouped(intervalSteps)} steps) loses least: ${share(lost.share)} of the time~.${law}`;
}

interface RateProps {
  readonly name: string;
  readonly of: keyof FailureOptions;
  /** Of what is typed, in the unit of the option. */
  readonly scale: number;
  readonly options: Signal<FailureOptions>;
}

/** A rate that somebody knows; empty where it is assumed. */
function Rate({ name, of, scale, options }: RateProps): VNode {
  const set = (text: string): void => {
    const { [of]: _, ...others } = options.value;
    const value = Number(text) * scale;
    options.value = text !== '' && Number.isFinite(value) && value > 0 ? { ...others, [of]: value } : others;
  };
  return (
    <label>
      {`${name} `}
      <input
        class="amount rate"
        type="number"
        min={0}
        step="any"
        placeholder="assumed"
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </label>
  );
}

/** Around the least: what each interval loses, and of what. */
function LostTable({ found: { curve }, step }: { readonly found: FailureAnswer; readonly step: number }): VNode {
  const middle = (curve.length - 1) / 2;
  const shown = curve.filter((_, index) => (index - middle) % (middle / 4) === 0);
  return (
    <Scroll name="Lost time by interval">
      <table>
        <caption>Share of the time that is lost, by the work between two checkpoints</caption>
        <Heads columns={['#every~', '#steps', '#lost~', '#writing~', '#work done again~', '#restarts~']} />
        <tbody>
          {shown.map(({ seconds: interval, lost }) => (
            <tr key={interval}>
              <td class="number">{long(interval)}</td>
              <td class="number">{grouped(Math.max(1, interval / step))}</td>
              <td class="number">{share(lost.share)}</td>
              <td class="number">{share(lost.writing)}</td>
              <td class="number">{share(lost.repeated)}</td>
              <td class="number">{share(lost.restarting)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface ChoicesProps {
  readonly store: Store;
  readonly plan: Shown;
  readonly found: FailureAnswer;
}

/** A spare host, going on with one fewer, or waiting: the step of each, and what a failure costs. A repair of D seconds costs D in
 * waiting; going on with steps of s' in place of s seconds costs D (1 - s / s') and one more restart R. They are equal at R s' / s. */
function Choices({ store, plan, found: { failures } }: ChoicesProps): VNode {
  const { scenario } = store.place.value;
  const fewer = useAnswer(`${plan.layout.short} ${JSON.stringify(scenario)}`, () =>
    store.viewer.ask('whatIf', 'one host fewer', { ...scenario, nodes: scenario.nodes - 1 }, undefined),
  ).value;
  const { seconds: now } = plan.step;
  const each = failures.restartSeconds + failures.intervalSeconds / 2;
  const best = fewer.value?.best;
  const smaller = best ? time(best.seconds) : fewer.value || fewer.problem ? 'nothing fits' : 'planning';
  return (
    <Scroll name="When a host dies">
      <table>
        <caption>When a host dies</caption>
        <Heads columns={['what to do', '#step~', '#lost at once~', 'note']} />
        <tbody>
          <tr>
            <th scope="row">a spare host takes over</th>
            <td class="number">{time(now)}</td>
            <td class="number">{long(each)}</td>
            <td>a restart and half an interval; the spare is idle until then</td>
          </tr>
          <tr>
            <th scope="row">{`go on with ${scenario.nodes - 1} ${scenario.nodes === 2 ? 'host' : 'hosts'}`}</th>
            <td class="number">{smaller}</td>
            <td class="number">{long(each)}</td>
            <td>{best ? `as ${best.short}; one more restart when the host is back` : ''}</td>
          </tr>
          <tr>
            <th scope="row">wait for its repair</th>
            <td class="number">{time(now)}</td>
            <td class="number">{`${long(each)} and the repair`}</td>
            <td>
              {best && best.seconds > now
                ? `better than going on where a repair takes less than ${long((failures.restartSeconds * best.seconds) / now)}`
                : ''}
            </td>
          </tr>
        </tbody>
      </table>
    </Scroll>
  );
}

/** A rate of bytes is said in its usual unit. */
const amountWords = (what: string, value: number): string =>
  what.endsWith(' (bytes/s)')
    ? `${what.replace(' (bytes/s)', '')}: ${formatRate(bytesPerSecond(value))}`
    : `${what}: ${grouped(value)}`;

const Assumed = ({ found: { assumed } }: { readonly found: FailureAnswer }): VNode => (
  <ul class="quiet">
    {assumed.map(({ what, value, source }) => (
      <li key={what}>{`${amountWords(what, value)}, assumed. ${source.charAt(0).toUpperCase()}${source.slice(1)}.`}</li>
    ))}
  </ul>
);
