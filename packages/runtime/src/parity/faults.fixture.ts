/** More faults that people make, planted into a sound program beside those of the verifier's own tests. */
import type { Compute, Item, Operation, Program } from '@meshwright/core/program';
import type { ParityFinding } from './parity.ts';

/** One fault: where it shows in a run at least, and whether the program itself says that it is wrong. */
export interface PlantedFault {
  readonly plant: (program: Program) => Program;
  readonly shows: ParityFinding['what'];
  /** `numbers`: the program is one that somebody might want; only its numbers are others. */
  readonly verifier: 'refuses' | 'numbers';
}

type Change = (operation: Operation) => readonly Operation[];

/** Every operation of the templates whose name begins so. */
const inTemplates = (program: Program, name: string, change: Change): Program => ({
  ...program,
  templates: program.templates.map((template) =>
    template.name.startsWith(name) ? { ...template, operations: template.operations.flatMap(change) } : template,
  ),
});

/** Every operation of the lists; lines are numbered anew. */
const inLists = (program: Program, change: Change): Program => ({
  ...program,
  lists: program.lists.map((list) => ({
    ...list,
    items: renumbered(
      list.items.flatMap((item): readonly Item[] =>
        item.kind === 'operation' ? change(item.operation).map((operation) => ({ ...item, operation })) : [item],
      ),
    ),
  })),
});

function renumbered(items: readonly Item[]): readonly Item[] {
  const numbers = new Map<number, number>();
  items.forEach(({ id }, index) => void (numbers.has(id) || numbers.set(id, index + 1)));
  return items.map((item, index) => ({
    ...item,
    id: index + 1,
    needs: item.needs.flatMap((need) => {
      const number = numbers.get(need);
      return number !== undefined && number <= index ? [number] : [];
    }),
  }));
}

const isSum = (operation: Operation, buffer: string): boolean =>
  operation.kind === 'collective' && operation.reads[0] === buffer;
const isKernel = (operation: Operation, kernel: string, first?: string): operation is Compute =>
  operation.kind === 'compute' && operation.kernel === kernel && (first === undefined || operation.reads[0] === first);

const without =
  (wanted: (operation: Operation) => boolean): Change =>
  (operation) =>
    wanted(operation) ? [] : [operation];
const twice =
  (wanted: (operation: Operation) => boolean): Change =>
  (operation) =>
    wanted(operation) ? [operation, operation] : [operation];
const changed =
  (wanted: (operation: Operation) => boolean, fields: Readonly<Record<string, unknown>>): Change =>
  (operation) =>
    wanted(operation) ? [{ ...operation, ...fields } as Operation] : [operation];
const reading =
  (wanted: (operation: Operation) => boolean, place: number, buffer: string): Change =>
  (operation) =>
    wanted(operation) ? [{ ...operation, reads: operation.reads.with(place, buffer) }] : [operation];

const ruled =
  (rule: string, axis?: string) =>
  (operation: Operation): boolean =>
    operation.kind === 'collective' && operation.why.rule === rule && (axis === undefined || operation.axis === axis);

/** Faults of a GPT-2 kind under tensor, sequence, pipeline and sharded data parallelism. */
export const moreFaults: Readonly<Record<string, PlantedFault>> = {
  'loss averaged over ranks': {
    plant: (program) => ({ ...program, lossScale: program.lossScale * 2 }),
    shows: 'loss',
    verifier: 'refuses',
  },
  'maximum of the vocabulary not reduced': {
    plant: (program) =>
      inTemplates(
        program,
        'F.head',
        without((each) => isSum(each, 'mx')),
      ),
    shows: 'loss',
    verifier: 'refuses',
  },
  'exponentials not summed': {
    plant: (program) =>
      inTemplates(
        program,
        'F.head',
        without((each) => isSum(each, 'se')),
      ),
    shows: 'loss',
    verifier: 'refuses',
  },
  'logit of the label not summed': {
    plant: (program) =>
      inTemplates(
        program,
        'F.head',
        without((each) => isSum(each, 'tl')),
      ),
    shows: 'loss',
    verifier: 'refuses',
  },
  'maximum taken for a sum': {
    plant: (program) =>
      inTemplates(
        program,
        'F.head',
        changed((each) => isSum(each, 'se'), { reduce: 'max' }),
      ),
    shows: 'loss',
    verifier: 'refuses',
  },
  'mean over tensor for a sum': {
    plant: (program) =>
      inTemplates(
        program,
        'F.layer',
        changed((each) => isSum(each, 'a'), { factor: 0.5 }),
      ),
    shows: 'loss',
    verifier: 'refuses',
  },
  'mean over tensor in backward': {
    plant: (program) =>
      inTemplates(
        program,
        'B.layer',
        changed((each) => isSum(each, 'dn1g'), { factor: 0.5 }),
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'tied embedding summed twice': {
    plant: (program) => inLists(program, twice(ruled('sum-tied'))),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'norm not summed over data': {
    plant: (program) => inLists(program, without(ruled('global-norm', 'data'))),
    shows: 'norm',
    verifier: 'refuses',
  },
  'norm not summed over stages': {
    plant: (program) => inLists(program, without(ruled('global-norm', 'pipeline'))),
    shows: 'norm',
    verifier: 'refuses',
  },
  'norm summed twice over tensor': {
    plant: (program) => inLists(program, twice(ruled('global-norm', 'tensor'))),
    shows: 'norm',
    verifier: 'refuses',
  },
  'gradients of whole parameters summed twice': {
    plant: (program) => inLists(program, twice(ruled('sum-whole-parameters'))),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'updated weights not gathered': {
    plant: (program) => inLists(program, without(ruled('gather-updated'))),
    shows: 'loss',
    verifier: 'refuses',
  },
  'gradients of earlier micro-batches overwritten': {
    plant: (program) =>
      inTemplates(program, 'B.layer', (each) =>
        isKernel(each, 'gemm.dw') ? [{ ...each, writes: each.writes.map(({ buffer }) => ({ buffer })) }] : [each],
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'gradient of a bias counted by every tensor rank': {
    plant: (program) =>
      inTemplates(
        program,
        'B.layer',
        reading((each) => isKernel(each, 'bias.dw', 'dr'), 0, 'drg'),
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'gradient of the head left out of the tied matrix': {
    plant: (program) =>
      inTemplates(
        program,
        'B.head',
        without((each) => isKernel(each, 'gemm.dw')),
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'statistics of another norm': {
    plant: (program) =>
      inTemplates(
        program,
        'B.layer',
        reading((each) => isKernel(each, 'layernorm.dx', 'dn2'), 2, 'st1'),
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'gradient of the residual left out': {
    plant: (program) =>
      inTemplates(
        program,
        'B.layer',
        reading((each) => isKernel(each, 'layernorm.dx', 'dn1'), 4, 'none'),
      ),
    shows: 'gradient',
    verifier: 'refuses',
  },
  'a clip at twice the norm': {
    plant: (program) =>
      inLists(
        program,
        changed((each) => isKernel(each, 'clip'), { attributes: { limit: 2 } }),
      ),
    shows: 'parameter',
    verifier: 'numbers',
  },
};
