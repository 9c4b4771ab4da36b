/** @file Files that are dropped on the page: what they are, and what they change. A file that is refused changes nothing. */

import { InputError, type Issue } from '@meshwright/core/errors';
import { readJob, readModelConfig } from '@meshwright/core/io';
import type { Scenario } from '../scenario/scenario.ts';
import { overlayOfRun, type RunOverlay } from './overlay.ts';
import type { TimelineDetail } from './timeline.ts';
import { traceDetail } from './trace.ts';

/** What a drop says: a changed scenario, or why it was refused. */
export type DropReading =
  | { readonly kind: 'scenario'; readonly scenario: Scenario; readonly says: string }
  | {
      readonly kind: 'trace';
      readonly name: string;
      readonly detail: TimelineDetail;
      /** A run over the simulated step of the scenario; text says why it is not, undefined for what is no run. */
      readonly overlay: RunOverlay | string | undefined;
      readonly says: string;
    }
  | { readonly kind: 'refused'; readonly says: string; readonly issues: readonly Issue[] };

const refused = (says: string, issues: readonly Issue[] = []): DropReading => ({ kind: 'refused', says, issues });

/** Reads the text of a dropped file against the scenario of the page. */
export function readDrop(name: string, text: string, scenario: Scenario): DropReading {
  // A run is lines of JSON, the last of which is its report.
  const json = parsed(text) ?? parsed(text.trimEnd().split('\n').at(-1) ?? '');
  if (isMapping(json) && isTrace(json)) return traceDrop(name, json, scenario);
  if (isMapping(json) && looksLikeConfig(json)) return configDrop(name, text, json, scenario);
  return jobDrop(name, text);
}

const isTrace = (json: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(json['traceEvents']) || json['schema'] === 'meshwright.run/1';

function traceDrop(name: string, json: Readonly<Record<string, unknown>>, scenario: Scenario): DropReading {
  const detail = traceDetail(json);
  if (typeof detail === 'string')
    return refused(`${name} is a trace that cannot be drawn: ${detail}; nothing was changed.`);
  const overlay = json['schema'] === 'meshwright.run/1' ? overlayOrReason(scenario, json) : undefined;
  const over =
    typeof overlay === 'object'
      ? `${name} is laid over the simulated step of its layout, ${overlay.layout}, in Timeline.`
      : `${name} is shown in Timeline.`;
  return { kind: 'trace', name, detail, overlay, says: `${over} The scenario is as it was.` };
}

/** A scenario that is no job has no step to lay anything over. */
function overlayOrReason(scenario: Scenario, run: Readonly<Record<string, unknown>>): RunOverlay | string {
  try {
    return overlayOfRun(scenario, run);
  } catch (error) {
    if (error instanceof InputError) return `this scenario cannot be simulated: ${error.issues[0]?.message ?? ''}`;
    throw error;
  }
}

const looksLikeConfig = (json: Readonly<Record<string, unknown>>): boolean =>
  ['architectures', 'model_type', 'hidden_size', 'n_embd'].some((key) => Object.hasOwn(json, key));

function configDrop(
  name: string,
  text: string,
  config: Readonly<Record<string, unknown>>,
  scenario: Scenario,
): DropReading {
  const { model, issues } = readModelConfig(text, name);
  if (!model) return refused(`${name} is a model configuration that cannot be read; nothing was changed.`, issues);
  const called =
    typeof config['_name_or_path'] === 'string' && config['_name_or_path'] !== ''
      ? config['_name_or_path']
      : name.replace(/\.json$/, '');
  return {
    kind: 'scenario',
    scenario: { ...scenario, model: { name: called, config }, layout: {} },
    says: `The model is now that of ${name}.`,
  };
}

function jobDrop(name: string, text: string): DropReading {
  const { job, issues } = readJob(text, name);
  if (!job) {
    const isJob =
      issues.some(({ path }) => /^(model|cluster|batch|layout|precision)/.test(path)) &&
      /^\s*(model|cluster|batch)\s*:/m.test(text);
    const what = isJob ? 'is a job file with errors' : 'is neither a job file nor a model configuration';
    return refused(`${name} ${what}; nothing was changed.`, issues.slice(0, 8));
  }
  const written = /^\s*["']?model["']?\s*:\s*["']?([\w.-]+)["']?\s*(#.*)?,?$/m.exec(text)?.[1];
  if (written === undefined || job.framework !== 'meshwright' || job.kernels.dropout > 0 || job.optimizer !== 'adamw') {
    return refused(
      `${name} says more than the sentence of this page can hold (a model by its dimensions, a framework, kernels or another optimizer); nothing was changed. Plan it with: meshwright plan ${name}`,
    );
  }
  const rate = job.cluster.inter.rate;
  return {
    kind: 'scenario',
    scenario: {
      model: written,
      nodes: job.cluster.nodes,
      host: job.cluster.preset,
      linkGbps: rate.kind === 'given' ? Math.round((rate.value * 8) / 1e9) : undefined,
      sequences: job.batch.sequences,
      length: job.batch.length,
      precision: job.precision,
      layout: job.layout,
    },
    says: `The scenario is now that of ${name}.`,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
