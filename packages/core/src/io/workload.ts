/** @file The workload of a job file: a name, or adapters with their rank, factor and targets. */
import { fieldsOf, isMapping, wrongType } from '../errors/fields/index.ts';
import { type Issue, issue } from '../errors/index.ts';
import type { Workload } from '../job/index.ts';
import { type AdapterSpec, ALL_LINEAR, MOST_RANK } from '../model/index.ts';
import type { JobFile } from './job-schema.ts';

/** What a workload means; undefined where it says nothing or something wrong. */
export interface WorkloadReading {
  readonly workload?: Workload;
  readonly issues: readonly Issue[];
}

/** Documents of a packed sequence do not look at each other: how long they are, the job does not say. */
const packedNote: Issue = {
  ...issue(
    'PACKED_PRICED_WHOLE',
    'workload',
    'attention is priced over whole sequences, as if each were one document.',
    'Real steps are shorter.',
  ),
  severity: 'note',
};

/** Reads the key `workload` of a job file. */
export function readWorkload(given: JobFile['workload']): WorkloadReading {
  if (given === undefined) return { issues: [] };
  if (typeof given === 'string') return { workload: given, issues: given === 'packed' ? [packedNote] : [] };
  if (!isMapping(given.lora)) return { issues: [] };
  const path = 'workload.lora';
  const fields = fieldsOf(given.lora, path, { known: ['rank', 'alpha', 'targets'] });
  const rank = fields.integer(['rank'], {
    what: 'the rank of the adapters',
    min: 1,
    max: MOST_RANK,
    required: true,
    example: '16',
  });
  const alpha = fields.real(['alpha'], { what: 'the factor of the adapters', min: 0, max: 1e6 });
  const targets = readTargets(fields.raw(['targets'])?.value, `${path}.targets`, fields.issues);
  if (rank === undefined || targets === undefined || fields.issues.length > 0) return { issues: fields.issues };
  const lora: AdapterSpec = { rank, alpha: alpha ?? rank, targets };
  return { workload: { lora }, issues: [] };
}

/** Names of modules, one or several; every linear layer of the blocks when absent. */
function readTargets(given: unknown, path: string, issues: Issue[]): readonly string[] | undefined {
  if (given === undefined) return [ALL_LINEAR];
  const names = Array.isArray(given) ? (given as readonly unknown[]) : [given];
  const isName = (value: unknown): value is string => typeof value === 'string' && /^[\w.-]{1,80}$/.test(value);
  if (names.length > 0 && names.every(isName)) return [...new Set(names)];
  issues.push(wrongType(path, given, `${ALL_LINEAR} or a list of module names such as q_proj`));
  return undefined;
}
