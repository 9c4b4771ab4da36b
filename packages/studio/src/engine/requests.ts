/** @file What the page asks of the worker, by name: one function each, data in and data out. */
import type { CodeRow } from '@meshwright/core/errors';
import type { PublishedRun } from '@meshwright/core/explain';
import type { Layout, LayoutRequest } from '@meshwright/core/layout';
import type { FailureOptions, Interrupted, Planned, Shown } from '@meshwright/core/plan';
import type { LessonKey, LessonModel, StepScript } from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import type { MemoryDetail } from './detail.ts';
import type { Disturbance, Disturbed, linkFamilies } from './disturb.ts';
import type { DoneList } from './does.ts';
import type { LayoutDrawing, Placed, ToldScript } from './drawing.ts';
import type { DropReading } from './drop.ts';
import type { FailureAnswer } from './failures.ts';
import type { RunOverlay } from './overlay.ts';
import type { Planner, PlanPart } from './plan.ts';
import { jobFor } from './preset-job.ts';
import { createQuickPlanner, type QuickPlan, type QuickPlanner, type QuickReach } from './quick.ts';
import type { Written } from './replay.ts';
import type { ScalingAnswer, Sensitivities } from './sensitivity.ts';
import type { TimelineDetail } from './timeline.ts';
import type { Variant, WhatIf } from './variants.ts';
import { type Names, namesOf } from './words.ts';

/** All questions with what they are given and answer. */
export interface Requests {
  names(): Names;
  reasons(codes: readonly string[]): Promise<Readonly<Record<string, CodeRow>>>;
  /** Ranks by bounds, within the time of a key press. */
  quick(scenario: Scenario, reach: QuickReach): Promise<QuickPlan>;
  /** What others measured on something like it. */
  nearest(scenario: Scenario): Promise<PublishedRun | undefined>;
  show(scenario: Scenario, layout: LayoutRequest): Promise<Shown>;
  placed(scenario: Scenario, layout: LayoutRequest): Promise<Placed>;
  drawing(scenario: Scenario, layout: LayoutRequest): Promise<LayoutDrawing>;
  /** What the ranks of a stage do. */
  does(scenario: Scenario, layout: LayoutRequest, stage: number): Promise<DoneList>;
  timeline(scenario: Scenario, layout: LayoutRequest): Promise<TimelineDetail>;
  timelineFigure(scenario: Scenario, layout: LayoutRequest): Promise<string>;
  memory(scenario: Scenario, layout: LayoutRequest): Promise<MemoryDetail>;
  variants(scenario: Scenario, layout: Layout): Promise<readonly Variant[]>;
  /** The script of one's own plan. */
  script(scenario: Scenario, layout: LayoutRequest): Promise<ToldScript>;
  lesson(key: LessonKey, model: LessonModel, sharding: 1 | 2 | 3): Promise<StepScript>;
  /** A run of the toy under a layout of the lesson over the step of the lesson; text says why it cannot be. */
  ran(key: LessonKey, sharding: 1 | 2 | 3, written: Written): Promise<RunOverlay | string>;
  whatIf(words: string, scenario: Scenario, layout: LayoutRequest | undefined): Promise<WhatIf>;
  disturbed(scenario: Scenario, layout: LayoutRequest, disturbance: Disturbance): Promise<Disturbed>;
  failures(job: Interrupted, options: FailureOptions): Promise<FailureAnswer>;
  sensitivity(scenario: Scenario, layouts: readonly Layout[]): Promise<Sensitivities>;
  scaling(scenario: Scenario, most: number): Promise<ScalingAnswer>;
  linkFamilies(scenario: Scenario): Promise<ReturnType<typeof linkFamilies>>;
  drop(name: string, text: string, scenario: Scenario): Promise<DropReading>;
}

/** Questions that are answered in parts; who asked may stop listening between them. */
export interface Streams {
  plan(scenario: Scenario): AsyncGenerator<PlanPart, Planned>;
}

/** What a first answer does not need is loaded when it is asked for. */
export const createRequests = (quick: QuickPlanner = createQuickPlanner()): Requests => ({
  names: namesOf,
  reasons: async (...given) => (await import('./reasons.ts')).reasonsOf(...given),
  quick: async (scenario, reach) => quick(scenario, await jobFor(scenario), reach),
  nearest: async (...given) => (await import('./nearest.ts')).nearestOf(...given),
  show: async (...given) => (await import('./detail.ts')).shownOf(...given),
  placed: async (...given) => (await import('./drawing.ts')).placedLayout(...given),
  drawing: async (...given) => (await import('./drawing.ts')).layoutDrawing(...given),
  does: async (...given) => (await import('./does.ts')).doneBy(...given),
  timeline: async (...given) => (await import('./timeline.ts')).timelineDetail(...given),
  timelineFigure: async (...given) => (await import('./timeline.ts')).timelineFigure(...given),
  memory: async (...given) => (await import('./detail.ts')).memoryDetail(...given),
  variants: async (...given) => (await import('./variants.ts')).memoryVariants(...given),
  script: async (...given) => (await import('./drawing.ts')).scriptOf(...given),
  lesson: async (...given) => (await import('./drawing.ts')).lessonScript(...given),
  ran: async (...given) => (await import('./overlay.ts')).overlayOfLesson(...given),
  whatIf: async (...given) => (await import('./variants.ts')).whatIf(...given),
  disturbed: async (...given) => (await import('./disturb.ts')).disturbed(...given),
  failures: async (...given) => (await import('./failures.ts')).failureAnswer(...given),
  sensitivity: async (...given) => (await import('./sensitivity.ts')).sensitivityOf(...given),
  scaling: async (...given) => (await import('./sensitivity.ts')).scalingOf(...given),
  linkFamilies: async (...given) => (await import('./disturb.ts')).linkFamilies(...given),
  drop: async (...given) => (await import('./drop.ts')).readDrop(...given),
});

/** One planner for all plans: it keeps the prices of the last. */
export function createStreams(): Streams {
  const loaded = (): Promise<Planner> => import('./plan.ts').then(({ createPlanner }) => createPlanner());
  let planner: Promise<Planner> | undefined;
  return {
    plan: async function* plan(scenario) {
      planner ??= loaded();
      return yield* (await planner)(scenario);
    },
  };
}

export type RequestName = keyof Requests;
export type Arguments<Name extends RequestName> = Parameters<Requests[Name]>;
export type Answer<Name extends RequestName> = Awaited<ReturnType<Requests[Name]>>;

export type StreamName = keyof Streams;
export type StreamArguments<Name extends StreamName> = Parameters<Streams[Name]>;
/** What a stream tells on the way, and at its end. */
export type Part<Name extends StreamName> = ReturnType<Streams[Name]> extends AsyncGenerator<infer Each> ? Each : never;
export type Whole<Name extends StreamName> =
  ReturnType<Streams[Name]> extends AsyncGenerator<unknown, infer Value> ? Value : never;
