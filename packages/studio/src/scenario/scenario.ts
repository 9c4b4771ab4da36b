/** @file A scenario: what the sentence on the first screen says, as plain data that fits into a link. */
import type { LayoutRequest } from '@meshwright/core/layout';

/** A model by name, or the configuration that somebody dropped. */
export type ScenarioModel = string | { readonly name: string; readonly config: Readonly<Record<string, unknown>> };

/** Everything that a plan depends on. */
export interface Scenario {
  readonly model: ScenarioModel;
  /** Hosts (nodes). */
  readonly nodes: number;
  /** What a host is: `dgx-h100`. */
  readonly host: string;
  /** A device in place of the host's own; undefined for that. */
  readonly gpu?: string | undefined;
  /** Gb/s of one NIC; undefined for that of the preset. */
  readonly linkGbps: number | undefined;
  readonly sequences: number;
  /** Tokens of one sequence. */
  readonly length: number;
  readonly precision: 'bf16' | 'fp16' | 'fp32';
  /** Keys that are fixed. */
  readonly layout: LayoutRequest;
}

/** What the page opens with: a worked scenario. */
export const firstScenario: Scenario = {
  model: 'llama-3.1-8b',
  nodes: 2,
  host: 'dgx-h100',
  linkGbps: undefined,
  sequences: 256,
  length: 8192,
  precision: 'bf16',
  layout: {},
};

/** The name of the model, for people. */
export const modelName = ({ model }: Scenario): string => (typeof model === 'string' ? model : model.name);

/** A value that arrow keys reach from `value`: the next power of two up or down, never below 1. */
export function neighbour(value: number, up: boolean): number {
  const power = up ? Math.floor(Math.log2(value)) + 1 : Math.ceil(Math.log2(value)) - 1;
  return Math.max(1, 2 ** power);
}

/** The job file of a scenario, as somebody would write it. A dropped configuration is named by its file. */
function jobText(scenario: Scenario): string {
  const { model, nodes, host, gpu, linkGbps, sequences, length, precision } = scenario;
  const changes = [
    ...(gpu === undefined ? [] : [`gpu: ${gpu}`]),
    ...(linkGbps === undefined ? [] : [`inter: { Gbps: ${linkGbps} }`]),
  ];
  const cluster =
    changes.length === 0 ? `${nodes}x ${host}` : `{ ${[`preset: ${host}`, `nodes: ${nodes}`, ...changes].join(', ')} }`;
  return [
    `model: ${typeof model === 'string' ? model : `${model.name}/config.json`}`,
    `cluster: ${cluster}`,
    `batch: { sequences: ${sequences}, length: ${length} }`,
    `precision: ${precision}`,
    '',
  ].join('\n');
}

/** The command that shows one layout of a scenario; the job comes on standard input. */
export const commandLine = (scenario: Scenario, layout: string): string =>
  `meshwright show - --layout ${layout} <<'JOB'\n${jobText(scenario)}JOB`;
