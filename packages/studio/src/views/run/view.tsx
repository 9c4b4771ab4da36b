/** @file A real run on this machine, through the local server: the losses of eight ranks over that of one, the bytes that
 * really moved beside those predicted, and the last step, to be replayed. Only there when `meshwright serve` opened the page.
 */
import { type Lesson, type LessonKey, lessons } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Ran, Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Pending } from '../../parts/pending.tsx';
import { OverlayTable, overlayWords } from '../timeline/measured.tsx';
import { Lanes } from '../timeline/view.tsx';
import { startRun } from './start.ts';
import { BytesTable, Losses, LossTable } from './told.tsx';

export function RunView({ store, server }: ViewProps): VNode {
  const steps = useSignal(12);
  const run = store.run.value;
  const { sharding } = store.place.value.steps;
  const lesson = lessonOf(store);
  return (
    <section aria-label="Run">
      <h2>Run it for real</h2>
      <p>
        The toy of the step-through figure is trained on this machine, one rank a thread, by the program that the figure
        draws; then once more on one rank, to compare.
      </p>
      <div class="choices">
        <Layouts store={store} lesson={lesson} />
        <label>
          Steps{' '}
          <input
            class="amount"
            type="number"
            min={1}
            max={200}
            value={steps.value}
            onInput={({ currentTarget }) =>
              void (steps.value = Math.max(1, Math.min(200, Number(currentTarget.value) || 1)))
            }
          />
        </label>
        <button
          type="button"
          class="main"
          disabled={!server || run?.stop !== undefined}
          onClick={() => server && void startRun(server, store, { lesson, sharding, steps: steps.value })}
        >
          Run
        </button>
        <button type="button" disabled={run?.stop === undefined} onClick={() => run?.stop?.()}>
          Stop
        </button>
      </div>
      <p role="status">
        {run?.says ??
          'After Run: losses of both as they come, the bytes that moved beside those predicted, and the last step to be replayed.'}
      </p>
      {run && run.told.length > 0 && <Losses told={run.told} alone={run.alone} />}
      {run && run.told.length > 0 && <LossTable told={run.told} alone={run.alone} />}
      {run?.bytes && <BytesTable bytes={run.bytes} />}
      {run?.recording && <LastStep key={run.number} store={store} run={run} />}
    </section>
  );
}

/** The layout of the step-through figure; one of the lesson where that shows something else. */
const lessonOf = (store: Store): LessonKey =>
  lessons.find(({ key }) => key === store.place.value.steps.layout)?.key ?? store.run.value?.request.lesson ?? 'data';

const nameOf = (key: LessonKey): string => lessons.find((each: Lesson) => each.key === key)?.name ?? key;

function Layouts({ store, lesson }: { readonly store: Store; readonly lesson: LessonKey }): VNode {
  const { sharding } = store.place.value.steps;
  return (
    <>
      <label>
        Layout{' '}
        <select
          value={lesson}
          onChange={({ currentTarget }) => store.step({ layout: currentTarget.value as LessonKey, frame: 0 })}
        >
          {lessons.map(({ key, name }) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {lesson === 'sharded' && (
        <label>
          Sharded state{' '}
          <select
            value={String(sharding)}
            onChange={({ currentTarget }) => store.step({ sharding: Number(currentTarget.value) as 1 | 2 | 3 })}
          >
            <option value="1">ZeRO-1</option>
            <option value="2">ZeRO-2</option>
            <option value="3">ZeRO-3</option>
          </select>
        </label>
      )}
    </>
  );
}

/** The last step in time over its prediction, and the way to its replay. */
function LastStep({ store, run }: { readonly store: Store; readonly run: Ran }): VNode {
  const { number, request, recording, told } = run;
  const ran = useAnswer(String(number), () =>
    store.quickly.ask('ran', request.lesson, request.sharding, recording ?? {}),
  );
  const { value } = ran.value;
  const script = typeof value === 'object' ? value.replay : undefined;
  const says = `step ${told.length} of the run of ${nameOf(request.lesson)} on this machine.`;
  useEffect(() => {
    if (typeof script === 'object') store.replay.value = { says, script };
  }, [script]);
  return (
    <section aria-label="The last step">
      <h3>The last step</h3>
      <Pending known={ran.value} words="Reading what the ranks did." height={300}>
        {(known) =>
          typeof known === 'string' ? (
            <p class="problem">{`It cannot be shown: ${known}.`}</p>
          ) : (
            <>
              <p class="actions">
                <button
                  type="button"
                  class="main"
                  onClick={() => {
                    store.step({ layout: 'run', frame: 0 });
                    store.open('steps');
                  }}
                >
                  Replay it step by step
                </button>
                <span class="quiet">What each rank held, took and sent, in the order in which it happened.</span>
              </p>
              <p>{overlayWords(known)}</p>
              <Lanes id="run-slice" detail={known.detail} says={`${told.length} steps ran; this is the last.`} />
              <OverlayTable overlay={known} />
            </>
          )
        }
      </Pending>
    </section>
  );
}
