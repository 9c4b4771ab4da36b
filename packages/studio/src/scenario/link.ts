/** @file Links: a scenario with what is selected as the hash of a URL, versioned, deflated by the browser, in base64url. */

import { type LessonKey, lessons } from '@meshwright/figures';
import { firstScenario, type Scenario } from './scenario.ts';

/** Views that exist; the first is the page that opens. */
export const views = ['plan', 'steps', 'layout', 'timeline', 'memory', 'compare', 'whatif', 'run', 'learn'] as const;
export type View = (typeof views)[number];

/** What the figure of steps shows. `mine` is the selected plan instead of a lesson, `run` the last run: a link names it and
 * does not hold it. */
export interface StepsPlace {
  readonly layout: LessonKey | 'mine' | 'run';
  readonly model: string;
  readonly sharding: 1 | 2 | 3;
  readonly frame: number;
  readonly detail: 'collectives' | 'hops';
  readonly beside: LessonKey | undefined;
}

/** All that a link holds. */
export interface Place {
  readonly scenario: Scenario;
  readonly view: View;
  /** Short form of the selected layout; undefined for the best. */
  readonly selected: string | undefined;
  readonly steps: StepsPlace;
  /** Page of Learn, from 0. */
  readonly page: number;
}

export const firstPlace: Place = {
  scenario: firstScenario,
  view: 'plan',
  selected: undefined,
  steps: { layout: 'data', model: 'toy', sharding: 3, frame: 0, detail: 'collectives', beside: undefined },
  page: 0,
};

/** What came of a hash: a place, or why there is none. */
export interface LinkReading {
  readonly place: Place;
  /** What the reader should know: an unknown version, a damaged link. */
  readonly notice: string | undefined;
}

const VERSION = 1;
/** Longest hash that is inflated, and longest text that comes out: links are small. */
const LONGEST = 64_000;
const LONGEST_TEXT = 400_000;

/** The hash of a place, with its `#`. */
export async function linkOf(place: Place): Promise<string> {
  const deflated = new Blob([JSON.stringify(place)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of new Uint8Array(await new Response(deflated).arrayBuffer())) binary += String.fromCharCode(byte);
  return `#${VERSION}.${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** The whole address of a place, to be handed on. */
export const addressOf = async (place: Place): Promise<string> => new URL(await linkOf(place), location.href).href;

/** The place of a hash. Never rejects: what cannot be read is explained, and the first place stands in. */
export async function readLink(hash: string): Promise<LinkReading> {
  if (hash === '' || hash === '#') return { place: firstPlace, notice: undefined };
  const [, version, body] = /^#(\d{1,6})\.([\w-]+)$/.exec(hash) ?? [];
  if (version === undefined || body === undefined) {
    return {
      place: firstPlace,
      notice: 'This link is not one of the studio, or was cut off. The first scenario is shown instead.',
    };
  }
  if (Number(version) !== VERSION) {
    const older = Number(version) < VERSION ? 'an older' : 'a newer';
    return {
      place: firstPlace,
      notice: `This link was made by ${older} studio (version ${version}; this one reads version ${VERSION}). Its scenario cannot be opened here; the first scenario is shown instead.`,
    };
  }
  const read = body.length > LONGEST ? undefined : await valueOf(body);
  const place = read === undefined ? undefined : placeOf(read);
  if (place) return { place, notice: undefined };
  return {
    place: firstPlace,
    notice: 'This link is damaged: its contents cannot be read. The first scenario is shown instead.',
  };
}

/** What a body holds; undefined where it is no text of JSON, or longer than a link can be: reading stops there. */
async function valueOf(body: string): Promise<unknown> {
  try {
    const binary = atob(body.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const reader = inflated.getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      length += part.value.length;
      if (length > LONGEST_TEXT) return await reader.cancel();
    }
    return JSON.parse(await new Blob(parts).text());
  } catch {
    return undefined;
  }
}

/** Checks everything that comes from outside; what is absent is the first place's. */
function placeOf(value: unknown): Place | undefined {
  if (!isMapping(value) || !isMapping(value['scenario'])) return undefined;
  const scenario = scenarioOf(value['scenario']);
  if (!scenario) return undefined;
  const steps = isMapping(value['steps']) ? value['steps'] : {};
  const view = views.find((each) => each === value['view']) ?? firstPlace.view;
  const layout = stepsLayouts.find((each) => each === steps['layout']) ?? firstPlace.steps.layout;
  const beside = lessons.find(({ key }) => key === steps['beside'])?.key;
  return {
    scenario,
    view,
    selected: typeof value['selected'] === 'string' ? value['selected'].slice(0, 2_000) : undefined,
    steps: {
      layout,
      model: typeof steps['model'] === 'string' ? steps['model'].slice(0, 60) : firstPlace.steps.model,
      sharding: steps['sharding'] === 1 ? 1 : steps['sharding'] === 2 ? 2 : 3,
      frame: count(steps['frame'], 0) ?? 0,
      detail: steps['detail'] === 'hops' ? 'hops' : 'collectives',
      beside,
    },
    page: Math.min(20, count(value['page'], 0) ?? 0),
  };
}

const stepsLayouts: readonly StepsPlace['layout'][] = [...lessons.map(({ key }) => key), 'mine', 'run'];

function scenarioOf(value: Readonly<Record<string, unknown>>): Scenario | undefined {
  const { model, host, gpu, precision, layout, linkGbps } = value;
  const [nodes, sequences, length] = [
    count(value['nodes'], 1),
    count(value['sequences'], 1),
    count(value['length'], 1),
  ];
  const named =
    typeof model === 'string' || (isMapping(model) && typeof model['name'] === 'string' && isMapping(model['config']));
  if (!named || typeof host !== 'string' || nodes === undefined || sequences === undefined || length === undefined)
    return undefined;
  return {
    model: model as Scenario['model'],
    nodes,
    host,
    ...(typeof gpu === 'string' && { gpu: gpu.slice(0, 60) }),
    linkGbps: typeof linkGbps === 'number' && linkGbps > 0 ? linkGbps : undefined,
    sequences,
    length,
    precision: precision === 'fp16' || precision === 'fp32' ? precision : 'bf16',
    layout: isMapping(layout) ? layout : {},
  };
}

const count = (value: unknown, least: number): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least ? value : undefined;

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
