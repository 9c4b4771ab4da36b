/** @file Job files: YAML or JSON text to a job, with all issues at once and each at its line and column. */
import { type ClusterResult, clusterFromRequest } from '../cluster/index.ts';
import { isMapping } from '../errors/fields/index.ts';
import { type Issue, issue } from '../errors/index.ts';
import type { Job, Precision, ProductRecipe } from '../job/index.ts';
import { type BatchResult, batchOf, checkPrecision, createJob, jobDefaults, validateJob } from '../job/index.ts';
import { checkAdapters } from '../model/index.ts';
import { LONGEST_JOB, placeIssue, readDocument, type SourceDocument } from './document.ts';
import { checkJobFile, type JobFile } from './job-schema.ts';
import { type LayoutReading, layoutFromMapping, parseLayoutString } from './layout-request.ts';
import { fileMissing, hasErrors, isPath, modelFromRequest, nameFromPath, type ReadOptions } from './read-model.ts';
import { sizeHelp, sizeOf } from './size.ts';
import { readWorkload } from './workload.ts';

/** What came of a job file. `job` is present exactly when no issue is an error. */
export interface JobReading {
  readonly job?: Job;
  readonly issues: readonly Issue[];
  /** Gives an issue of a later stage (its path as in a job, such as `layout.tensor`) its position in the file. */
  place(each: Issue): Issue;
}

/** Reads the text of a job file. Files that it names come from `options.loadFile`. Never throws on what a user wrote. */
export function readJob(text: string, fileName: string, options: ReadOptions = {}): JobReading {
  const { document, issues } = readDocument(text, fileName, LONGEST_JOB);
  if (!document) return { issues, place: (each) => each };
  const { file, issues: shapeIssues } = checkJobFile(document.value);
  const known = file ?? salvage(document.value, shapeIssues);
  const layout = readLayout(known.layout, document);
  const parts = readParts(known, layout, fileName, options);
  const place = placerOf(document, layout);
  const found = [...shapeIssues, ...parts.issues].map(place);
  const all = inOrder([...issues, ...found], fileName);
  return { ...(parts.job && !hasErrors(all) && { job: parts.job }), issues: all, place };
}

/** The keys of a file with a wrong shape that are right themselves, so that their contents are checked as well. */
function salvage(value: unknown, issues: readonly Issue[]): Partial<JobFile> {
  if (!isMapping(value)) return {};
  const wrong = new Set(issues.filter((each) => each.code !== 'KEY_UNKNOWN').map((each) => each.path.split('.')[0]));
  return Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key))) as Partial<JobFile>;
}

interface Parts {
  readonly job?: Job;
  readonly issues: readonly Issue[];
}

function readParts(file: Partial<JobFile>, layout: LayoutReading, fileName: string, options: ReadOptions): Parts {
  const { model, issues: modelIssues } =
    file.model === undefined ? { issues: [] } : modelFromRequest(file.model, 'model', fileName, options);
  const { cluster, issues: clusterIssues } =
    file.cluster === undefined ? { issues: [] } : readCluster(file.cluster, fileName, options);
  const { batch, issues: batchIssues } = file.batch === undefined ? { issues: [] } : readBatch(file.batch);
  const { workload, issues: workloadIssues } = readWorkload(file.workload);
  const issues = [
    ...[...modelIssues, ...clusterIssues, ...batchIssues, ...workloadIssues],
    ...[...notYet(file), ...layout.issues],
  ];
  if (model && typeof workload === 'object') issues.push(...checkAdapters(model, workload.lora, 'workload.lora'));
  if (!model || !batch) return { issues };
  issues.push(...validateJob({ model, batch }));
  if (!cluster || hasErrors(issues)) return { issues };
  const { name = nameFromPath(fileName), precision, optimizer, framework, kernels, routing } = file;
  const types = precisionOf(precision ?? jobDefaults.precision);
  issues.push(...checkPrecision({ cluster, ...types }));
  if (hasErrors(issues)) return { issues };
  const job = createJob({
    name,
    model,
    cluster,
    batch,
    layout: layout.layout,
    precision: types.precision,
    ...(optimizer && { optimizer }),
    ...(workload && { workload }),
    ...(framework && { framework }),
    kernels: { ...kernels, ...(types.products && { products: types.products }) },
    ...(routing && { routing }),
  });
  return { job, issues };
}

/** What `cluster: here` stands for, beside the job: the machine as calibrate --here has written it. */
const HERE_FILE = './here.yaml';

function readCluster(request: unknown, fileName: string, { loadFile }: ReadOptions): ClusterResult {
  if (isMapping(request) && Object.hasOwn(request, 'topology')) {
    const help = 'Use a preset or the keys of a cluster.';
    return { issues: [issue('VALUE_NOT_YET', 'cluster.topology', 'a topology is not read yet.', help)] };
  }
  const file = request === 'here' ? HERE_FILE : request;
  if (typeof file !== 'string' || !isPath(file)) return clusterFromRequest(file, 'cluster');
  const text = loadFile?.(file, fileName);
  if (typeof text !== 'string') {
    return { issues: [request === 'here' ? notMeasured() : fileMissing(file, 'cluster', text)] };
  }
  const { document, issues } = readDocument(text, file, LONGEST_JOB);
  if (!document) return { issues };
  const { cluster, issues: found } = clusterFromRequest(document.value, '');
  const all = [...issues, ...found.map((each) => placeIssue(document, each))];
  return { ...(cluster && !hasErrors(all) && { cluster }), issues: all };
}

const notMeasured = (): Issue =>
  issue(
    'FILE_NOT_FOUND',
    'cluster',
    'here is this machine as here.yaml beside the job says, which cannot be read.',
    'Write meshwright calibrate --here in the folder of the job, or name a preset.',
  );

function readBatch(batch: JobFile['batch']): BatchResult {
  const issues: Issue[] = [];
  const read = (key: keyof JobFile['batch']): number | undefined => {
    const given = batch[key];
    if (given === undefined) return undefined;
    const value = sizeOf(given);
    if (value !== undefined && Number.isInteger(value) && value > 0 && value <= 2 ** 50) return value;
    issues.push(issue('VALUE_OUT_OF_RANGE', `batch.${key}`, `${given} is not a positive whole number.`, sizeHelp));
    return undefined;
  };
  const [sequences, tokens, length, maxTokens] = [read('sequences'), read('tokens'), read('length'), read('max')];
  if (issues.length > 0 || length === undefined) return { issues };
  return batchOf({ sequences, tokens, length, maxTokens }, 'batch');
}

/** What a precision means: the type of weights and activations, and the recipe of the products of layers. */
function precisionOf(name: NonNullable<JobFile['precision']>): { precision: Precision; products?: ProductRecipe } {
  if (name === 'fp32' || name === 'bf16' || name === 'fp16') return { precision: name };
  return { precision: 'bf16', products: name };
}

/** Values of the contract that nothing prices yet. */
function notYet({ precision }: Partial<JobFile>): readonly Issue[] {
  const issues: Issue[] = [];
  const refuse = (path: string, value: string, instead: string): void => {
    issues.push(issue('VALUE_NOT_YET', path, `${value} is not priced yet.`, `Use ${instead}.`, { value }));
  };
  if (precision === 'nvfp4') refuse('precision', precision, 'mxfp8');
  return issues;
}

const nothing: LayoutReading = { layout: Object.freeze({}), issues: [], places: new Map(), written: new Map() };

function readLayout(layout: JobFile['layout'], document: SourceDocument): LayoutReading {
  if (layout === undefined || layout === 'auto') return nothing;
  if (typeof layout !== 'string') return layoutFromMapping(layout, 'layout');
  return parseLayoutString(layout, { at: (offset) => document.within('layout', offset) });
}

/** Puts issues at their place; `layout.tensor` stands where the file says `tp`, in a mapping or inside a text. */
function placerOf(document: SourceDocument, { places, written }: LayoutReading): (each: Issue) => Issue {
  return (each) => {
    if (each.position) return each;
    const [root, long = '', ...rest] = each.path.split('.');
    if (root !== 'layout') return placeIssue(document, each);
    const inText = places.get(long);
    if (inText) return { ...each, position: inText };
    const { layout } = document.value as { readonly layout?: unknown };
    if (!isMapping(layout)) return { ...each, position: document.locate('layout') };
    const key = Object.hasOwn(layout, long) ? long : (written.get(long) ?? long);
    const path = ['layout', key, ...rest].join('.');
    return { ...placeIssue(document, { ...each, path }), path: each.path };
  };
}

/** Issues of the job file in order of place, then those of other files. */
function inOrder(issues: readonly Issue[], fileName: string): readonly Issue[] {
  const rank = ({ position }: Issue): number =>
    position?.file === fileName ? position.line * 2 ** 20 + Math.min(position.column, 2 ** 20 - 1) : 2 ** 52;
  return [...issues].sort((a, b) => rank(a) - rank(b));
}
