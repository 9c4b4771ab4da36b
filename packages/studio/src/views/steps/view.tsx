/** @file The step-through figure on the page: which layout and model, the figure, its keys, guess, ledger, compare. */
import {
  type Detail,
  frameOfStep,
  framesOf,
  type LessonKey,
  lessons,
  type Moment,
  momentOf,
  placeOfFrame,
  type StepScript,
  Steps,
} from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Store } from '../../app/store.ts';
import { isTyping } from '../../app/typing.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { ToldScript } from '../../engine/drawing.ts';
import { type Known, useAnswer } from '../../parts/answer.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { Pending } from '../../parts/pending.tsx';
import type { StepsPlace } from '../../scenario/link.ts';
import { Choices } from './choices.tsx';
import { Controls } from './controls.tsx';
import { Difference } from './difference.tsx';
import { Guess } from './guess.tsx';
import { Ledger } from './ledger.tsx';
import { RunLedger } from './run-ledger.tsx';

export function StepsView({ store }: ViewProps): VNode {
  const { steps } = store.place.value;
  const row = store.selected.value;
  const known = useScript(store, steps.layout, row?.short ?? '');
  const replay = store.replay.value;
  const isRun = steps.layout === 'run';
  const beside = useScript(store, steps.beside, '');
  return (
    <section aria-label="Step through">
      <Choices store={store} />
      {isRun && !replay && (
        <p role="status">
          No run is here: a link does not hold it. Run a layout in Run, or drop the report of{' '}
          <code>meshwright run --json</code> on the scenario of its job.
        </p>
      )}
      {(!isRun || replay) && (
        <Pending
          known={
            isRun && replay
              ? { value: { script: replay.script, note: '' }, stale: false, problem: undefined }
              : known.value
          }
          words="Compiling the program of this layout."
          height={520}
        >
          {(told) => (
            <Told
              store={store}
              told={told}
              beside={steps.beside === undefined ? undefined : beside.value.value?.script}
            />
          )}
        </Pending>
      )}
    </section>
  );
}

/** The script of a lesson, or of the selected plan. */
export function useScript(
  store: Store,
  layout: StepsPlace['layout'] | undefined,
  short: string,
): { readonly value: Known<ToldScript> } {
  const { scenario, steps } = store.place.value;
  const { model, sharding } = steps;
  const mine = layout === 'mine';
  const row = store.rows.value.find((each) => each.short === short);
  const key =
    layout === undefined || layout === 'run'
      ? ''
      : mine
        ? row
          ? `mine ${short} ${JSON.stringify(scenario)}`
          : ''
        : `${layout} ${model} ${layout === 'sharded' ? sharding : ''}`;
  return useAnswer(key, () =>
    mine && row
      ? store.viewer.ask('script', scenario, row.layout)
      : store.viewer
          .ask('lesson', layout as LessonKey, lessonModel(model), sharding)
          .then((script) => ({ script, note: '' })),
  );
}

const lessonModel = (model: string): 'toy' | 'llama-2-7b' | 'llama-2-13b' =>
  model === 'llama-2-7b' || model === 'llama-2-13b' ? model : 'toy';

interface ToldProps {
  readonly store: Store;
  readonly told: ToldScript;
  readonly beside: StepScript | undefined;
}

function Told({ store, told, beside }: ToldProps): VNode {
  const { script, note } = told;
  const { steps } = store.place.value;
  const narrow = useNarrow();
  const moment = momentOf(script, steps.frame, steps.detail);
  const playing = useSignal(false);
  const go = (frame: number): void => store.step({ frame: Math.max(0, Math.min(moment.frames, frame)) });
  const moves = movesOf(script, moment, steps.detail, go);
  useKeys(store, moves, () => void (playing.value = !playing.value));
  useEffect(() => {
    if (!playing.value) return undefined;
    const timer = setTimeout(() => {
      const next = momentOf(script, moment.frame + 1, steps.detail);
      moves.next();
      // It stops where a phase ends, so that there is time to think.
      if (next.frame === moment.frames || (next.phase !== moment.phase && moment.phase !== 'start'))
        playing.value = false;
    }, 1200);
    return () => clearTimeout(timer);
  }, [playing.value, moment.frame, script]);
  const other = beside && momentOf(beside, sameShare(script, beside, moment, steps.detail), steps.detail);
  const size = narrow || other ? 'narrow' : 'wide';
  return (
    <div class="stepping">
      {note !== '' && <p class="quiet">{note}</p>}
      <Controls moment={moment} moves={moves} playing={playing} />
      <figure class="steps">
        <div class={other ? 'beside' : undefined}>
          <div class={size === 'wide' ? 'drawing' : 'drawing narrow'}>
            <Steps script={script} frame={moment.frame} detail={steps.detail} size={size} />
          </div>
          {beside && other && (
            <div class="drawing narrow">
              <Steps script={beside} frame={other.frame} detail={steps.detail} size="narrow" />
            </div>
          )}
        </div>
        <figcaption aria-live="polite" id="caption" class="hidden">
          {`${moment.head}. ${moment.sentence} ${moment.traffic}`}
        </figcaption>
      </figure>
      {beside && other && <Difference scripts={[script, beside]} moments={[moment, other]} />}
      <Guess key={`${script.name} ${script.layout}`} script={script} />
      {steps.layout === 'run' ? <RunLedger moment={moment} /> : <Ledger script={script} moment={moment} />}
    </div>
  );
}

/** What can be done with the place in the step. */
export interface Moves {
  next(): void;
  back(): void;
  first(): void;
  last(): void;
  phase(forward: boolean): void;
  layer(): void;
}

function movesOf(script: StepScript, moment: Moment, detail: Detail, go: (frame: number) => void): Moves {
  const { step: at } = placeOfFrame(script, moment.frame, detail);
  const { steps } = script;
  const to = (index: number): void =>
    go(index < 0 ? (index < -1 ? 0 : framesOf(script, detail)) : frameOfStep(script, index, detail));
  return {
    next: () => go(moment.frame + 1),
    back: () => go(moment.frame - 1),
    first: () => go(0),
    last: () => go(moment.frames),
    phase: (forward) => {
      const here = steps[at]?.phase;
      if (forward) to(steps.findIndex(({ phase }, index) => index > at && phase !== here));
      else {
        let index = at;
        while (index > 0 && steps[index - 1]?.phase === here) index -= 1;
        if (index === at || at < 0) {
          const before = steps[at - 1]?.phase;
          while (index > 0 && steps[index - 1]?.phase === before) index -= 1;
        }
        if (index <= 0) go(0);
        else to(index);
      }
    },
    layer: () =>
      to(steps.findIndex(({ block }, index) => index > at && block !== undefined && block !== steps[at]?.block)),
  };
}

/** The frame of another script in the same phase, as far through it. */
function sameShare(script: StepScript, other: StepScript, { step, frame }: Moment, detail: Detail): number {
  if (!step) return 0;
  const place = placeOfFrame(script, frame, detail).step;
  const inPhase = (each: StepScript): readonly number[] =>
    each.steps.flatMap(({ phase }, index) => (phase === step.phase ? [index] : []));
  const [own, others] = [inPhase(script), inPhase(other)];
  if (others.length === 0) return step.phase === 'open' ? 0 : framesOf(other, detail);
  const through = own.length < 2 ? 1 : own.indexOf(place) / (own.length - 1);
  return frameOfStep(other, others[Math.round(through * (others.length - 1))] ?? 0, detail);
}

/** Keys act on what was drawn last, and from then on: the next press may come before it is painted. */
function useKeys(store: Store, moves: Moves, play: () => void): void {
  const last = useRef<Readonly<Record<string, () => void>>>({});
  last.current = keyTable(store, moves, play);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      // A focused button answers to space itself.
      if (event.key === ' ' && event.target instanceof HTMLButtonElement) return;
      const done = last.current[event.key];
      if (!done) return;
      event.preventDefault();
      done();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

const keyTable = (store: Store, moves: Moves, play: () => void): Readonly<Record<string, () => void>> => ({
  ArrowRight: moves.next,
  l: moves.next,
  ArrowLeft: moves.back,
  h: moves.back,
  ' ': play,
  Home: moves.first,
  End: moves.last,
  '[': () => moves.phase(false),
  ']': () => moves.phase(true),
  n: moves.layer,
  d: () => store.step({ detail: store.place.value.steps.detail === 'hops' ? 'collectives' : 'hops', frame: 0 }),
  c: () => store.step({ beside: store.place.value.steps.beside === undefined ? 'sharded' : undefined }),
  ...Object.fromEntries(
    lessons.map(({ key }, index) => [String(index + 1), () => store.step({ layout: key, frame: 0 })]),
  ),
});
