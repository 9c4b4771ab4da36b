/** @file Faults that people make in layouts, planted into a sound program. The verifier must refuse each, and a run must
 * show each: these are for the tests of both. The planted programs have the form of the sound one and can be executed.
 */
import { assertInvariant, assertUnreachable } from '../errors/index.ts';
import type { Collective, Item, Operation, Program, RankList, Template, View } from './types.ts';

/** A fault by name. */
export type Fault =
  | 'norm-gradients-not-summed'
  | 'tied-counted-twice'
  | 'tied-not-summed'
  | 'mean-over-data'
  | 'stale-weights'
  | 'bias-before-sum';

/** All faults. */
export const faults: readonly Fault[] = [
  'norm-gradients-not-summed',
  'tied-counted-twice',
  'tied-not-summed',
  'mean-over-data',
  'stale-weights',
  'bias-before-sum',
];

/** The program with one fault. Throws where the program has nothing to plant it in; see {@link canPlant}. */
export function plantFault(program: Program, fault: Fault): Program {
  const planted = planting(program, fault);
  assertInvariant(planted !== undefined, () => `${program.name} has no place for the fault ${fault}`);
  return planted;
}

/** Whether the program has a place for the fault: a tied matrix on two stages, a bias behind a tensor sum, ... */
export const canPlant = (program: Program, fault: Fault): boolean => planting(program, fault) !== undefined;

function planting(program: Program, fault: Fault): Program | undefined {
  switch (fault) {
    case 'norm-gradients-not-summed':
      return withoutLines(program, ({ axis, reads }) => axis === 'tensor' && (reads[0] ?? '').endsWith('.summed'));
    case 'tied-counted-twice':
      return countTiedTwice(program);
    case 'tied-not-summed':
      return withoutLines(program, ({ axis }) =>
        program.groups.some(({ name, along }) => name === axis && along === 'pipeline'),
      );
    case 'mean-over-data':
      return averageOverData(program);
    case 'stale-weights':
      return gatherTooLate(program);
    case 'bias-before-sum':
      return addBiasEarly(program);
    default:
      return assertUnreachable(fault);
  }
}

type Choice = (operation: Collective) => boolean;

const isChosen = (item: Item, choice: Choice): boolean =>
  item.kind === 'operation' && item.operation.kind === 'collective' && choice(item.operation);

/** All lists without the collectives that are chosen; undefined where there are none. */
function withoutLines(program: Program, choice: Choice): Program | undefined {
  if (!program.lists.some(({ items }) => items.some((item) => isChosen(item, choice)))) return undefined;
  return mapLists(program, (list) => ({
    ...list,
    items: renumbered(list.items.filter((item) => !isChosen(item, choice))),
  }));
}

/** Gradients of data are averaged instead of summed. */
function averageOverData(program: Program): Program | undefined {
  const degree = program.mesh.axes.find(({ name }) => name === 'data')?.degree ?? 1;
  const choice: Choice = ({ axis, reduce, dim }) => axis === 'data' && reduce === 'sum' && dim === 'flat';
  if (!program.lists.some(({ items }) => items.some((item) => isChosen(item, choice)))) return undefined;
  return mapLists(program, (list) => ({
    ...list,
    items: list.items.map((item) =>
      item.kind === 'operation' && item.operation.kind === 'collective' && isChosen(item, choice)
        ? { ...item, operation: { ...item.operation, factor: 1 / degree } }
        : item,
    ),
  }));
}

/** Each stage counts its copy of a shared parameter in the norm. */
function countTiedTwice(program: Program): Program | undefined {
  const everywhere = (view: View): View => ({
    ...view,
    counted: view.counted.filter(({ axis }) => axis !== 'pipeline'),
  });
  if (!program.lists.some(({ buckets }) => buckets.some(({ copies }) => copies !== undefined))) return undefined;
  return mapLists(program, (list) => ({
    ...list,
    buckets: list.buckets.map((bucket) =>
      bucket.copies === undefined ? bucket : { ...bucket, views: bucket.views.map(everywhere) },
    ),
  }));
}

/** The first gather of weights on each list comes after everything that reads them. */
function gatherTooLate(program: Program): Program | undefined {
  const gather: Choice = ({ why }) => why.rule === 'gather-updated' || why.rule === 'gather-unit';
  if (!program.lists.some(({ items }) => items.some((item) => isChosen(item, gather)))) return undefined;
  return mapLists(program, (list) => {
    const late = list.items.find((item) => isChosen(item, gather));
    const lastCall = list.items.findLastIndex((item) => item.kind === 'call');
    if (late === undefined || lastCall < 0) return list;
    const before = list.items.slice(0, lastCall + 1).filter((item) => item !== late);
    const after = list.items.slice(lastCall + 1).filter((item) => item !== late);
    return { ...list, items: renumbered([...before, { ...late, needs: [] }, ...after]) };
  });
}

/** The bias of a row-parallel product goes into the product, before the sum over tensor. */
function addBiasEarly(program: Program): Program | undefined {
  const templates = program.templates.map(moveBias);
  return templates.every((template, index) => template === program.templates[index])
    ? undefined
    : { ...program, templates };
}

/** Moves the first bias that is added after a tensor reduction of a product into that product. */
function moveBias(template: Template): Template {
  const { operations } = template;
  for (const add of operations) {
    if (add.kind !== 'compute' || (add.kernel !== 'add' && add.kernel !== 'dropout-add')) continue;
    const [branch = '', bias = 'none', residual = ''] = add.reads;
    const sum = operations.find((each) => each.kind === 'collective' && writesTo(each, branch));
    const product = operations.find(
      (each) => each.kind === 'compute' && each.kernel === 'gemm' && writesTo(each, sum?.reads[0] ?? ''),
    );
    if (bias === 'none' || product === undefined) continue;
    const changed = new Map<Operation, Operation>([
      [add, { ...add, reads: [branch, 'none', residual] }],
      [product, { ...product, reads: [...product.reads.slice(0, 2), bias] }],
    ]);
    return { ...template, operations: operations.map((each) => changed.get(each) ?? each) };
  }
  return template;
}

const writesTo = (operation: Operation, buffer: string): boolean =>
  operation.writes.some((write) => write.buffer === buffer);

const mapLists = (program: Program, change: (list: RankList) => RankList): Program => ({
  ...program,
  lists: program.lists.map(change),
});

/** Lines numbered from 1 again; needs of lines that are gone, or that now come later, are dropped. */
function renumbered(items: readonly Item[]): readonly Item[] {
  const numbers = new Map(items.map((item, index) => [item.id, index + 1]));
  return items.map((item, index) => ({
    ...item,
    id: index + 1,
    needs: item.needs.flatMap((need) => {
      const number = numbers.get(need);
      return number !== undefined && number <= index ? [number] : [];
    }),
  }));
}
