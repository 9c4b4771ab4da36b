/** @file The templates of a block: every call of a layer and of the ends of a model, with the buffers that they name. */
import { throwOnErrors } from '../errors/index.ts';
import { checkCompiles } from '../model/index.ts';
import type { BufferDeclaration, Group, Template } from '../program/index.ts';
import type { BlockContext } from './context.ts';
import { embedBackward, embedForward } from './templates/ends.ts';
import { headBackward, headForward } from './templates/head.ts';
import { layerTemplates, type Written, written } from './templates/layers.ts';
import { splitBackward } from './templates/split.ts';

/** The templates of a block context and the buffers that they name. */
export interface BlockTemplates {
  readonly templates: readonly Template[];
  readonly buffers: readonly BufferDeclaration[];
  /** Scalars of the period, live throughout. */
  readonly scalars: readonly BufferDeclaration[];
}

/** Throws an InputError for a model whose layers have no operations yet, so that none is compiled as something else. */
export function blockTemplates(context: BlockContext): BlockTemplates {
  throwOnErrors(checkCompiles(context.model));
  const ends = [embedForward, headForward, headBackward, embedBackward].map((write) => written(write, context));
  const all = [...ends, ...layerTemplates(context)]
    .filter(({ template }) => template.operations.length > 0)
    .flatMap((each) => withParts(each, context))
    .sort((a, b) => placeOf(a.template) - placeOf(b.template));
  const buffers = new Map(all.flatMap(({ declarations }) => [...declarations]));
  return { templates: all.map(({ template }) => template), buffers: [...buffers.values()], scalars };
}

/** Backward as the schedule takes it: whole, in parts, or both where it takes either in turns. */
function withParts(each: Written, context: BlockContext): readonly Written[] {
  const { template, declarations } = each;
  if (template.direction === 'forward' || context.backward === 'whole') return [each];
  const parts = splitBackward(template, context).map((part) => ({ template: part, declarations }));
  return context.backward === 'split' ? parts : [each, ...parts];
}

/** Forward down the model, then backward up, weight parts behind input parts. */
const placeOf = ({ block, direction, part }: Template): number => {
  const depth = ['embed', 'layer', 'head'].indexOf(block);
  return direction === 'forward' ? depth : 5 - depth + (part === undefined ? 0 : part === 'input' ? 3 : 6);
};

/** Groups that the templates name where context ranks share sequences in two ways at once. */
export function contextGroupsOf({ context, contextKind, contextHeads }: BlockContext): readonly Group[] {
  if (context === 1 || contextKind !== 'hybrid') return [];
  const upTo = (count: number, step = 1): readonly number[] => Array.from({ length: count }, (_, at) => at * step);
  return [
    { name: 'context.heads', along: 'context', coordinates: upTo(contextHeads), repeats: true },
    { name: 'context.ring', along: 'context', coordinates: upTo(context / contextHeads, contextHeads), repeats: true },
  ];
}

/** Loss and its seed, sum of squares, clip factor and learning rate. They live throughout: nobody frees a scalar. */
const scalars: readonly BufferDeclaration[] = [
  { name: 'loss', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'q', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'k', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'scale', role: 'input', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'lr', role: 'input', dtype: 'fp32', dims: [], scope: 'period', resident: true },
];
