/** @file The state of the page: where one is (scenario, view, selection), and what the workers have answered. Views read
 * signals; everything that changes goes through the functions of a store. No DOM here.
 */

import type { Issue } from '@meshwright/core/errors';
import type { Planned, Shown } from '@meshwright/core/plan';
import type { StepScript } from '@meshwright/figures';
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { AskError } from '../engine/ask-error.ts';
import type { Client } from '../engine/client.ts';
import type { DropReading } from '../engine/drop.ts';
import type { QuickPlan } from '../engine/quick.ts';
import type { Written } from '../engine/replay.ts';
import { firstPlace, type Place, type StepsPlace, type View } from '../scenario/link.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type Found, type Row, rowsOf, withPart } from './rows.ts';
import type { RunEvent, RunRequest } from './run-job.ts';
import type { Worked } from './worked.ts';

/** What the page is doing about the scenario. */
export type Planning = 'bounds' | 'planning' | 'done' | 'failed';

/** A run of a program, told as it was measured. */
export interface ToldRun {
  /** Where it comes from. */
  readonly says: string;
  readonly script: StepScript;
}

/** What has been heard of a run on the local server. */
export interface Ran {
  /** Counts the runs of this page. */
  readonly number: number;
  readonly request: RunRequest;
  readonly told: readonly Extract<RunEvent, { readonly kind: 'step' }>[];
  /** Losses on one rank. */
  readonly alone: readonly number[];
  readonly bytes: Extract<RunEvent, { readonly kind: 'bytes' }>['bytes'] | undefined;
  /** What the ranks did in the last step. */
  readonly recording: Written | undefined;
  readonly says: string;
  /** Ends it; undefined once it has ended. */
  readonly stop: (() => void) | undefined;
}

/** The workers: one for each kind of patience. */
export interface Clients {
  /** Answers while somebody types: bounds, and what a dropped file is. */
  readonly quickly: Client;
  /** Plans; dropped and started anew with every edit. */
  readonly planner: Client;
  /** Looks at one layout for the other views; dropped with every edit as well. */
  readonly viewer: Client;
}

export interface Store extends Answers, Clients {
  readonly place: Signal<Place>;
  readonly rows: ReadonlySignal<readonly Row[]>;
  /** Those of them that are there in full, best first. */
  readonly plans: ReadonlySignal<readonly Shown[]>;
  /** The selected row, the best where none is selected. */
  readonly selected: ReadonlySignal<Row | undefined>;
  edit(change: Partial<Scenario>): void;
  open(view: View): void;
  select(short: string | undefined): void;
  step(change: Partial<StepsPlace>): void;
  turn(page: number): void;
  /** Another place, as a link or the back button asks for it. */
  go(place: Place, notice?: string): void;
  undo(): void;
  readonly canUndo: ReadonlySignal<boolean>;
}

const UNDONE = 50;

/** A store over its workers; `begin` is where the page opens, `worked` what is known without asking. */
export function createStore(clients: Clients, begin: Place = firstPlace, worked?: Worked): Store {
  const place = signal(begin);
  const answers = createAnswers();
  const { quick, found, planned, pinned, notice } = answers;
  const past = signal<readonly Pick<Place, 'scenario' | 'selected'>[]>([]);
  const plans = computed(() => planned.value?.plans ?? found.value?.shown ?? []);
  const rows = computed(() => rowsOf(quick.value, found.value, plans.value));
  const replan = planning(clients, place, answers, worked);
  const setScenario = (scenario: Scenario, selected?: string): void => {
    batch(() => {
      place.value = { ...place.value, scenario, selected };
      pinned.value = undefined;
    });
    void replan();
  };
  void replan();
  return {
    place,
    ...answers,
    ...clients,
    rows,
    plans,
    selected: computed(() => rows.value.find(({ short }) => short === place.value.selected) ?? rows.value[0]),
    edit: (change) => {
      const { scenario, selected } = place.value;
      past.value = [...past.value.slice(-UNDONE), { scenario, selected }];
      // What was said of a drop is about what was there before.
      notice.value = undefined;
      setScenario({ ...scenario, ...change });
    },
    open: (view) => void (place.value = { ...place.value, view }),
    select: (short) => void (place.value = { ...place.value, selected: short }),
    step: (change) => void (place.value = { ...place.value, steps: { ...place.value.steps, ...change } }),
    turn: (page) => void (place.value = { ...place.value, page }),
    go: (next, words) => {
      const changed = JSON.stringify(next.scenario) !== JSON.stringify(place.value.scenario);
      batch(() => {
        place.value = next;
        notice.value = words;
      });
      if (changed) void replan();
    },
    undo: () => {
      const last = past.value.at(-1);
      if (!last) return;
      past.value = past.value.slice(0, -1);
      setScenario(last.scenario, last.selected);
    },
    canUndo: computed(() => past.value.length > 0),
  };
}

/** What the workers have said so far. */
interface Answers {
  readonly notice: Signal<string | undefined>;
  readonly issues: Signal<readonly Issue[]>;
  readonly quick: Signal<QuickPlan | undefined>;
  /** The plan while it is made; undefined before its first part. */
  readonly found: Signal<Found | undefined>;
  /** The whole of it. */
  readonly planned: Signal<Planned | undefined>;
  readonly planning: Signal<Planning>;
  /** Short form of the row that others are compared with. */
  readonly pinned: Signal<string | undefined>;
  /** A trace that was dropped, shown beside the simulated step. */
  readonly trace: Signal<Extract<DropReading, { readonly kind: 'trace' }> | undefined>;
  /** A run that can be told step by step. */
  readonly replay: Signal<ToldRun | undefined>;
  /** The last run on the local server. */
  readonly run: Signal<Ran | undefined>;
}

const createAnswers = (): Answers => ({
  notice: signal<string | undefined>(undefined),
  issues: signal<readonly Issue[]>([]),
  quick: signal<QuickPlan | undefined>(undefined),
  found: signal<Found | undefined>(undefined),
  planned: signal<Planned | undefined>(undefined),
  planning: signal<Planning>('bounds'),
  pinned: signal<string | undefined>(undefined),
  trace: signal<Extract<DropReading, { readonly kind: 'trace' }> | undefined>(undefined),
  replay: signal<ToldRun | undefined>(undefined),
  run: signal<Ran | undefined>(undefined),
});

/** Asks for the first bounds, for all usual ones, and for the plan of the place's scenario; what an older scenario still hears
 * is left unheard. */
function planning(
  { quickly, planner, viewer }: Clients,
  place: Signal<Place>,
  answers: Answers,
  worked: Worked | undefined,
): () => Promise<void> {
  const { issues, quick, found, planning: state } = answers;
  const known = worked && JSON.stringify(worked.scenario);
  let asked = 0;
  const askAll = async (scenario: Scenario, own: number): Promise<void> => {
    const isOld = (): boolean => own !== asked;
    const first = await quickly.ask('quick', scenario, 'first');
    if (isOld()) return;
    batch(() => showBounds(answers, first));
    const further = quickly.ask('quick', scenario, 'usual').then((bounds) => {
      if (!isOld() && found.value === undefined) quick.value = bounds;
    });
    const plan = await planner.follow(
      'plan',
      (part) => {
        if (!isOld()) found.value = withPart(found.value, part);
      },
      scenario,
    );
    if (isOld()) return;
    batch(() => showPlan(answers, plan));
    await further;
  };
  return async () => {
    asked += 1;
    const own = asked;
    const { scenario } = place.value;
    planner.drop();
    viewer.drop();
    if (worked && JSON.stringify(scenario) === known) {
      batch(() => {
        showBounds(answers, worked.quick);
        showPlan(answers, worked.planned);
      });
      return;
    }
    state.value = 'bounds';
    try {
      await askAll(scenario, own);
    } catch (error) {
      if (own !== asked) return;
      if (!(error instanceof AskError)) throw error;
      batch(() => {
        issues.value = error.issues;
        state.value = 'failed';
      });
    }
  };
}

function showBounds({ issues, quick, found, planned, planning: state }: Answers, bounds: QuickPlan): void {
  issues.value = [];
  quick.value = bounds;
  found.value = undefined;
  planned.value = undefined;
  state.value = 'planning';
}

function showPlan({ issues, planned, planning: state }: Answers, plan: Planned): void {
  planned.value = plan;
  issues.value = plan.issues;
  state.value = 'done';
}
