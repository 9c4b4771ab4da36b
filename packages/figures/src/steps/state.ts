/** @file What is on stage at any moment of a script: a pure function, so that going back is exact. */
import { bytes, formatBytes, formatSeconds, seconds } from '@meshwright/core/units';
import { axisWords, counted } from '../svg/words.ts';
import { type Cell, cellOf, type ShelfName } from './holdings.ts';
import type { Link } from './links.ts';
import type { MeasuredGpu } from './replay.ts';
import type { ListState, ScriptStep, StageGpu, StepScript } from './script.ts';
import type { Phase } from './words.ts';

/** `collectives`: a whole exchange is one press; `hops`: each message is one. */
export type Detail = 'collectives' | 'hops';

/** A shelf of a GPU at a moment. */
export interface ShelfState {
  readonly name: ShelfName;
  readonly bytes: number;
  /** One for each shown GPU's piece; for activations one for each group of layers. */
  readonly cells: readonly Cell[];
}

/** A GPU at a moment. */
export interface GpuState {
  readonly rank: number;
  readonly node: number;
  readonly place: string;
  /** The same in the field's abbreviations, where room is short. */
  readonly shortPlace: string;
  readonly shelves: readonly ShelfState[];
  readonly otherBytes: number;
  readonly totalBytes: number;
  readonly sent: number;
  readonly received: number;
  readonly waited: number;
  readonly doing: string;
  readonly active: boolean;
  /** What was measured of it, in the replay of a run. */
  readonly measured: MeasuredGpu | undefined;
}

/** The stage at a moment. */
export interface Moment {
  /** 0 is before the first step, `frames` the last. */
  readonly frame: number;
  readonly frames: number;
  readonly step: ScriptStep | undefined;
  /** 1 for the first hop. */
  readonly hop: number;
  readonly phase: Phase | 'start';
  readonly gpus: readonly GpuState[];
  readonly links: readonly Link[];
  readonly head: string;
  readonly sentence: string;
  /** What travels, in one more sentence; empty for computing. */
  readonly traffic: string;
}

/** Frames of a script: one for each step, or for each hop of each step; without the opening. */
export const framesOf = ({ steps }: StepScript, detail: Detail): number =>
  detail === 'collectives' ? steps.length : steps.reduce((sum, step) => sum + Math.max(1, step.hops), 0);

/** Step and hop of a frame; -1 is the opening. */
export function placeOfFrame(
  script: StepScript,
  frame: number,
  detail: Detail,
): { readonly step: number; readonly hop: number } {
  if (frame <= 0) return { step: -1, hop: 0 };
  if (detail === 'collectives') {
    const step = Math.min(frame, script.steps.length) - 1;
    return { step, hop: Math.max(1, script.steps[step]?.hops ?? 1) };
  }
  let left = frame;
  for (const [step, { hops }] of script.steps.entries()) {
    const own = Math.max(1, hops);
    if (left <= own) return { step, hop: left };
    left -= own;
  }
  const last = script.steps.length - 1;
  return { step: last, hop: Math.max(1, script.steps[last]?.hops ?? 1) };
}

/** The frame at which a step is complete. */
export const frameOfStep = (script: StepScript, step: number, detail: Detail): number =>
  detail === 'collectives'
    ? step + 1
    : script.steps.slice(0, step + 1).reduce((sum, { hops }) => sum + Math.max(1, hops), 0);

/** The stage after frame `frame`; frames outside of the script are its ends. */
export function momentOf(script: StepScript, frame: number, detail: Detail = 'collectives'): Moment {
  const frames = framesOf(script, detail);
  const at = Math.max(0, Math.min(frames, Math.round(frame)));
  const { step: index, hop } = placeOfFrame(script, at, detail);
  const step = script.steps[index];
  const before = script.steps[index - 1]?.lists ?? script.opening;
  const after = step?.lists ?? script.opening;
  const share = step === undefined ? 1 : hop / Math.max(1, step.hops);
  return {
    frame: at,
    frames,
    step,
    hop,
    phase: step?.phase ?? 'start',
    gpus: script.gpus.map((gpu, place) => ({
      ...gpuState(script, gpu, before, after, share),
      measured: (share < 1 ? script.steps[index - 1] : step)?.measured?.gpus[place],
    })),
    links: step?.links ?? [],
    head: step?.caption.head ?? 'Before the step',
    sentence: step?.caption.sentence ?? 'Nothing has been sent. Each GPU holds what it keeps between steps.',
    traffic: step === undefined ? '' : `${trafficOf(script, step, hop)}${measuredWords(step)}`,
  };
}

function gpuState(
  script: StepScript,
  gpu: StageGpu,
  before: readonly ListState[],
  after: readonly ListState[],
  share: number,
): Omit<GpuState, 'measured'> {
  const [old, now] = [before[gpu.list], after[gpu.list]];
  // What an exchange changes is there when its last message is.
  const state = share < 1 ? old : now;
  const held = script.snapshots[gpu.list]?.[state?.held ?? 0];
  const between = (key: 'sent' | 'received'): number =>
    (old?.[key] ?? 0) + share * ((now?.[key] ?? 0) - (old?.[key] ?? 0));
  return {
    rank: gpu.rank,
    node: gpu.node,
    place: script.axes.map((axis) => `${axisWords[axis].coordinate} ${gpu.coordinate[axis]}`).join(' \u00b7 '),
    shortPlace: script.axes.map((axis) => `${axisWords[axis].short}${gpu.coordinate[axis]}`).join(' '),
    shelves:
      held === undefined
        ? []
        : (['W', 'G', 'O', 'A'] as const).map((name) => ({
            name,
            bytes: held.bytes[name],
            cells:
              name === 'A'
                ? held.activations
                : script.gpus.map(({ coordinate }) => cellOf(held, name, gpu.coordinate, coordinate)),
          })),
    otherBytes: held?.bytes.other ?? 0,
    totalBytes: held?.total ?? 0,
    sent: between('sent'),
    received: between('received'),
    waited: now?.waited ?? 0,
    doing: now?.doing ?? '',
    active: now?.active ?? false,
  };
}

const measuredWords = ({ measured }: ScriptStep): string =>
  measured === undefined
    ? ''
    : ` Measured from ${formatSeconds(seconds(measured.start))} to ${formatSeconds(seconds(measured.end))}.`;

function trafficOf({ links: names, nodes }: StepScript, { links, hops, kind }: ScriptStep, hop: number): string {
  if (kind === 'compute') return 'Nothing travels.';
  if (links.length === 0) return '';
  const most = Math.max(...links.map((link) => link.bytes));
  const crossing = links.filter(({ crosses }) => crosses).length;
  const each = formatBytes(bytes(most / Math.max(1, hops)));
  const message =
    hops > 1 ? `${counted(hops, 'message')} of ${each}, one after the other (${hop} done)` : `one message of ${each}`;
  const where =
    nodes === 1
      ? `all inside the node (${names.inside})`
      : crossing === 0
        ? `none leaves its node (${names.inside})`
        : `${crossing === links.length ? 'all' : `${crossing} of them`} cross between the nodes (${names.between})`;
  return `Over each link ${message}. ${counted(links.length, 'link')}: ${where}.`;
}
