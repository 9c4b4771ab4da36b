/** @file Gradients of a block arrive where they belong.
 *
 * The law: the gradient of a value is the sum of what comes back through every use of it, each once. A use by a kernel is
 * one term; a use that only passes the value on (a residual sum, a gather) has the terms of what it passes into. Every
 * backward kernel reads all terms of what its forward kernel wrote, and a block hands on all terms of what went into it.
 * What backward gathers or makes again is the value that it was.
 */
import type { Compute, Operation, Program, Template } from '../types.ts';
import { backwardsOf, blockOf, forwardOf } from './backward.ts';
import { copied, type Flow, type ForwardCall, followForward, type Terms, type Value } from './gradient-flow.ts';
import { type GradientRule, gradientRules, isMove, passesOf } from './gradient-rules.ts';
import type { Report } from './report.ts';
import { type IsTrained, trainedIn } from './trained.ts';

type Held = { readonly value: Value } | { readonly terms: Terms };

/** Reports gradients that come from elsewhere, or not whole. Asked of programs without other faults: nothing is missing. */
export function verifyGradients(program: Program, report: Report): void {
  for (const block of new Set(program.templates.map(blockOf))) {
    const templates = forwardOf(program, block);
    const forward = operationsOf(templates);
    for (const backward of backwardsOf(program, block)) {
      const wrong = findLostGradient(forward, operationsOf(backward), trainedIn(program, templates));
      if (wrong === undefined) continue;
      report.on(`B.${block}`, {
        code: 'BACKWARD_DIFFERS',
        message: `In the backward of a ${block} ${wrong}`,
        hint: 'Add what comes back through each use once, and read the sum.',
      });
    }
  }
}

const operationsOf = (templates: readonly Template[]): readonly Operation[] =>
  templates.flatMap(({ operations }) => operations);

/** What is wrong with the gradients of a block, in words that begin with an operand; undefined where nothing is. */
function findLostGradient(
  forward: readonly Operation[],
  backward: readonly Operation[],
  isTrained: IsTrained,
): string | undefined {
  const flow = followForward(forward, isTrained);
  const held = new Map<string, Held>([...flow.held].map(([name, value]) => [name, { value }]));
  held.set('dy', { terms: ['dy'] });
  const answered = new Set<string>();
  for (const operation of backward) {
    const wrong = takeBack(flow, held, answered, operation);
    if (wrong !== undefined) return wrong;
  }
  return findIncomplete(flow, held);
}

/** One operation of backward; says what is wrong with what it reads. */
function takeBack(
  flow: Flow,
  held: Map<string, Held>,
  answered: Set<string>,
  operation: Operation,
): string | undefined {
  const reads = operation.reads.map((name) => (name === 'none' ? undefined : (held.get(name) ?? inward(flow, name))));
  const gradients = reads.flatMap((each) => (each && 'terms' in each ? [each.terms] : []));
  const sums = operation.kind !== 'compute' || isMove(operation.kernel) || passesOf(operation.kernel).length > 0;
  if (operation.kind === 'compute' && (operation.why.rule === 'recompute' || !sums)) {
    if (operation.why.rule === 'recompute') return void makeAgain(flow, held, operation, reads);
    return answer(flow, held, answered, operation, reads);
  }
  const [first] = reads;
  const passed = gradients.length > 0 ? { terms: gradients.flat().sort() } : first;
  for (const { buffer } of operation.writes) if (passed) held.set(buffer, passed);
  return undefined;
}

const inward = (flow: Flow, name: string): Held => ({ value: flow.valueOf(name) });

const valueIn = (held: Held | undefined): Value | undefined => (held && 'value' in held ? held.value : undefined);

/** Forward work once more: its results are those of the call that it repeats. */
function makeAgain(
  flow: Flow,
  held: Map<string, Held>,
  operation: Compute,
  reads: readonly (Held | undefined)[],
): void {
  const values = reads.map(valueIn);
  const { kernel, attributes } = operation;
  const same = flow.calls.find(
    ({ operation: call, reads: given }) =>
      call.kernel === kernel &&
      call.attributes?.['piece'] === attributes?.['piece'] &&
      given.every((value, index) => value === values[index]),
  );
  const kept = same?.writes ?? copied(operation, values);
  for (const [index, { buffer }] of operation.writes.entries()) {
    const value = kept[index];
    if (value === undefined) held.delete(buffer);
    else held.set(buffer, { value });
  }
}

/** A backward kernel: finds the call that it answers, and holds what it reads against the terms of what that wrote. */
function answer(
  flow: Flow,
  held: Map<string, Held>,
  answered: Set<string>,
  operation: Compute,
  reads: readonly (Held | undefined)[],
): string | undefined {
  const fitting = flow.calls.flatMap((call, index) =>
    gradientRules(call.operation.kernel).flatMap((rule) =>
      rule.backward === operation.kernel && fits(call, rule, operation, reads) ? [{ call, index, rule }] : [],
    ),
  );
  const [first] = fitting;
  // That a kernel has no forward is said elsewhere.
  if (first === undefined) return undefined;
  const key = (each: { readonly index: number; readonly rule: GradientRule }): string =>
    `${each.index} ${operation.kernel} ${each.rule.writes.join()}`;
  const wrongs = fitting.map((each) => wrongRead(flow, each.call, each.index, each.rule, operation, reads));
  const place = fitting.findIndex((each, index) => wrongs[index] === undefined && !answered.has(key(each)));
  const chosen = fitting[place];
  if (chosen === undefined) {
    return (
      wrongs[0] ?? `${operation.reads[0]} goes through ${operation.kernel} of one call of its forward kernel twice.`
    );
  }
  answered.add(key(chosen));
  const added = chosen.rule.reads.flatMap((read, index) => {
    const gradient = reads[index];
    return read.kind === 'added' && gradient && 'terms' in gradient ? gradient.terms : [];
  });
  for (const [index, { buffer, accumulate }] of operation.writes.entries()) {
    const own = [`${chosen.index}:${chosen.rule.writes[index]}`, ...(index === 0 ? added : [])];
    const before = held.get(buffer);
    const there = accumulate && before && 'terms' in before ? before.terms : [];
    held.set(buffer, { terms: [...there, ...own].sort() });
  }
  return undefined;
}

/** The values that are read are those of the call, and so are the parameters whose gradients are written. */
function fits(
  { operation: forward, reads: given, writes: made }: ForwardCall,
  rule: GradientRule,
  { reads: names, writes, attributes }: Compute,
  reads: readonly (Held | undefined)[],
): boolean {
  const own = rule.reads.every((read, index) => {
    if (read.kind !== 'value' || (names[index] ?? 'none') === 'none') return true;
    const side = read.of.side === 'reads' ? given : made;
    return valueIn(reads[index]) === side[read.of.index];
  });
  const parameters = writes.every(
    ({ buffer }, index) =>
      !buffer.startsWith('G.') || forward.reads[rule.writes[index] ?? 0] === buffer.slice('G.'.length),
  );
  return own && parameters && attributes?.['hop'] === forward.attributes?.['hop'];
}

function wrongRead(
  flow: Flow,
  call: ForwardCall,
  index: number,
  rule: GradientRule,
  { kernel, reads: names }: Compute,
  reads: readonly (Held | undefined)[],
): string | undefined {
  for (const [place, read] of rule.reads.entries()) {
    const name = names[place] ?? 'none';
    if (read.kind !== 'gradient' || name === 'none') continue;
    const expected =
      rule.inside === undefined ? flow.gradientOf(call.writes[read.of] ?? 0) : [`${index}:${rule.inside}`];
    const held = reads[place];
    const of = call.operation.writes[read.of]?.buffer ?? '';
    if (!held || !('terms' in held))
      return `${name} goes into ${kernel}: it is no gradient, and that of ${of} belongs there.`;
    const wrong = differenceOf(flow, expected, held.terms);
    if (wrong !== undefined) return `${name} goes into ${kernel} as the gradient of ${of}: ${wrong}`;
  }
  return undefined;
}

/** What goes out of the block, and into parameters. */
function findIncomplete(flow: Flow, held: ReadonlyMap<string, Held>): string | undefined {
  const names = new Set(flow.calls.flatMap(({ operation }) => operation.reads));
  for (const name of names) {
    if (name === 'none' || (flow.held.has(name) && name !== 'x')) continue;
    const value = flow.valueOf(name);
    if (!flow.isOwed(value)) continue;
    const expected = flow.gradientOf(value);
    const gradient = held.get(name === 'x' ? 'dx' : `G.${name}`);
    if (expected.length === 0) continue;
    const terms = gradient && 'terms' in gradient ? gradient.terms : [];
    const wrong = differenceOf(flow, expected, terms);
    if (wrong !== undefined) return `${name === 'x' ? 'dx' : `G.${name}`} is the gradient of ${name}: ${wrong}`;
  }
  return undefined;
}

function differenceOf({ calls }: Flow, expected: Terms, found: Terms): string | undefined {
  const missing = without(expected, found);
  const more = without(found, expected);
  const words = (term: string | undefined): string | undefined => {
    if (term === undefined) return undefined;
    const call = calls[Number(term.split(':')[0])];
    return call ? `${call.operation.kernel} of ${call.operation.reads.join(' ')}` : 'the output of the block';
  };
  const [lacks, has] = [words(missing[0]), words(more[0])];
  if (lacks !== undefined) return `it lacks what comes back through ${lacks}.`;
  return has === undefined
    ? undefined
    : `it has what comes back through ${has}, which is not its own or is there already.`;
}

/** Terms of `all` that are not in `others`, each as often as it is too many. */
function without(all: Terms, others: Terms): Terms {
  const left = [...others];
  return all.filter((term) => {
    const at = left.indexOf(term);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
