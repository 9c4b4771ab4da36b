/** @file The form of a program: names, order of lines, operands, and calls. Only a program without these faults can be
 * written out, so the other rules are not asked before.
 *
 * The law: every name leads to a declaration; lines are numbered from 1 and need earlier lines only; there is one list
 * for each pipeline coordinate; each block passes forward and backward once for each micro-batch,
 * in one or in two parts; the seed of the loss
 * is 1 / tokens of the global batch.
 */
import { degreeOf } from '../../mesh/index.ts';
import { blocksOf, boundaryName, declaredName } from '../expand.ts';
import { withoutSlice } from '../names.ts';
import type { Call, Item, Program, RankList, Template } from '../types.ts';
import { verifyBackward } from './backward.ts';
import { verifyOperands } from './operands.ts';
import type { Report } from './report.ts';

/** Reports faults of form. */
export function verifyStructure(program: Program, report: Report): void {
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  for (const { name, operations } of program.templates) {
    operations.forEach((operation, index) => {
      verifyOperands(program, `${name}:${index + 1}`, operation, report);
    });
  }
  verifyLists(program, report);
  for (const list of program.lists) {
    verifyLines(list, report);
    for (const item of list.items) {
      const path = `${list.name}:${item.id}`;
      if (item.kind === 'operation') verifyOperands(program, path, item.operation, report);
    }
    verifyNames(program, list, templates, report);
  }
  verifyBackward(program, report);
  verifyCalls(program, templates, report);
  verifyLossScale(program, report);
}

function verifyLists(program: Program, report: Report): void {
  for (let pipeline = 0; pipeline < degreeOf(program.mesh, 'pipeline'); pipeline++) {
    const count = program.lists.filter((list) => list.pipeline === pipeline).length;
    if (count === 1) continue;
    report.on('lists', {
      code: 'PROGRAM_NAME_UNKNOWN',
      message: `Pipeline coordinate ${pipeline} has ${count} lists: it needs 1.`,
      hint: 'Write one list for each coordinate.',
    });
  }
}

function verifyLines(list: RankList, report: Report): void {
  list.items.forEach((item, index) => {
    const path = `${list.name}:${item.id}`;
    const late = item.needs.find((need) => need >= item.id || need < 1);
    if (item.id !== index + 1) {
      report.on(path, {
        code: 'PROGRAM_ORDER_WRONG',
        message: `Line ${index + 1} of ${list.name} has number ${item.id}: lines count from 1.`,
        hint: `Number it ${index + 1}.`,
      });
    }
    if (late === undefined) return;
    report.on(path, {
      code: 'PROGRAM_ORDER_WRONG',
      message: `Line ${item.id} needs line ${late}: it is not earlier.`,
      hint: 'Need earlier lines only.',
    });
  });
}

/** Names as lines and calls write them; a template is looked up once for each block. */
function verifyNames(program: Program, list: RankList, templates: ReadonlyMap<string, Template>, report: Report): void {
  const declared = new Set([...program.buffers, ...list.buffers].map(({ name }) => name));
  const parameters = new Map(
    list.buckets.flatMap(({ name, views }) => views.map((view) => [`${view.block}:${view.name}`, name] as const)),
  );
  const known = (name: string, block: number): boolean => {
    if (name === 'none' || declared.has(boundaryName(name)) || declared.has(name)) return true;
    const gradient = name.startsWith('G.');
    const parameter = gradient ? name.slice(2) : name;
    const bucket = parameters.get(`${block}:${parameter}`) ?? parameters.get(`-1:${parameter}`);
    return bucket !== undefined && declared.has(`${gradient ? 'G' : 'W'}.${bucket}`);
  };
  const unknown = (path: string, what: string, name: string): void =>
    report.on(path, {
      code: 'PROGRAM_NAME_UNKNOWN',
      message: `${what} ${name} is named: ${list.name} declares no such ${what.toLowerCase()}.`,
      hint: 'Declare it, or use a declared name.',
    });
  const seen = new Set<string>();
  for (const item of list.items) {
    const path = `${list.name}:${item.id}`;
    if (item.kind === 'operation') {
      const names = namesOf([item.operation]).filter((name) => name !== 'none');
      for (const name of names) if (!declared.has(declaredName(withoutSlice(name)))) unknown(path, 'Buffer', name);
      continue;
    }
    const template = templates.get(item.template);
    if (template === undefined) {
      unknown(path, 'Template', item.template);
      continue;
    }
    for (const block of blocksOf(item)) {
      if (seen.has(`${template.name} ${block}`)) continue;
      seen.add(`${template.name} ${block}`);
      for (const name of namesOf(template.operations)) if (!known(name, block)) unknown(path, 'Buffer', name);
    }
  }
}

const namesOf = (operations: Template['operations']): readonly string[] =>
  operations.flatMap(({ reads, writes }) => [...reads, ...writes.map((write) => write.buffer)]);

const isCall = (item: Item): item is Call => item.kind === 'call';

function verifyCalls(program: Program, templates: ReadonlyMap<string, Template>, report: Report): void {
  const counts = new Map<string, number>();
  const add = (pass: Pass, block: number, microBatch: number): void => {
    const key = `${pass} ${block} ${microBatch}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const call of program.lists.flatMap(({ items }) => items.filter(isCall))) {
    const template = templates.get(call.template);
    if (template === undefined || call.again) continue;
    for (const block of blocksOf(call)) for (const pass of passesOf(template)) add(pass, block, call.microBatch);
  }
  const hasPart = partsOf(program);
  for (const pass of ['forward', 'input', 'weight'] as const) {
    for (let block = -1; block <= program.layers; block++) {
      if (!hasPart(pass, block)) continue;
      for (let microBatch = 0; microBatch < program.microBatches; microBatch++) {
        const count = counts.get(`${pass} ${block} ${microBatch}`) ?? 0;
        if (count === 1) continue;
        report.on('lists', {
          code: 'PROGRAM_CALLS_WRONG',
          message: `Block ${block} passes ${passWords[pass]} ${count} times for micro-batch ${microBatch}: it must pass once.`,
          hint: 'Call it once.',
        });
      }
    }
  }
}

/** What a call does for its blocks: a backward in one passes the gradient on and adds to those of weights. */
type Pass = 'forward' | 'input' | 'weight';

const passWords: Readonly<Record<Pass, string>> = {
  forward: 'forward',
  input: 'backward',
  weight: 'backward for its weights',
};

const passesOf = ({ direction, part }: Template): readonly Pass[] =>
  direction === 'forward' ? ['forward'] : part === undefined ? ['input', 'weight'] : [part];

/** Whether every micro-batch needs such a pass of a block: where backward is split, an embedding has no input part, and a
 * head that takes its loss in pieces no weight part, though some micro-batches may pass both in one.
 */
function partsOf({ templates, layers }: Program): (pass: Pass, block: number) => boolean {
  const split = new Set(templates.filter(({ part }) => part !== undefined).map(({ block }) => block));
  const needed = templates.filter(({ direction, part, block }) => direction === 'forward' || part || !split.has(block));
  const known = new Set(needed.flatMap((each) => passesOf(each).map((pass) => `${pass} ${each.block}`)));
  return (pass, block) => known.has(`${pass} ${block < 0 ? 'embed' : block >= layers ? 'head' : 'layer'}`);
}

function verifyLossScale(program: Program, report: Report): void {
  const labels = program.buffers.find(({ name, role }) => name === 'labels' && role === 'input');
  if (labels === undefined) return;
  const tokens = labels.dims.reduce((product, dim) => product * dim.size, program.microBatches);
  if (Math.abs(program.lossScale * tokens - 1) < 1e-9) return;
  report.on('lossScale', {
    code: 'MEAN_NOT_ALLOWED',
    message: `The seed of the loss is ${program.lossScale}: 1 / tokens of the global batch is ${1 / tokens}.`,
    hint: `Set it to 1 / ${tokens}.`,
  });
}
