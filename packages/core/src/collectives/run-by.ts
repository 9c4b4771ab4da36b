/** @file A program whose collectives run by one algorithm: the same exchanges, laid over their ranks in another way. */
import { type Collective, degreesOf, type Item, membersOf, type Operation, type Program } from '../program/index.ts';
import { algorithms } from './algorithms.ts';

/** What the collectives of a program may be made to run by. */
export const forcedAlgorithms = ['ring', 'tree', 'halving-doubling', 'hierarchical', 'direct'] as const;
export type ForcedAlgorithm = (typeof forcedAlgorithms)[number];

/** The program with its collectives by `algorithm`, where `ranksPerNode` neighbouring ranks share a node. As everywhere, a
 * way that does not take a collective is not taken for it: scalars stay direct, and so stays what trees, halves, or two tiers
 * (groups within one node, with one member on each, or that do not fill nodes evenly) do not run.
 */
export function runBy(program: Program, algorithm: ForcedAlgorithm, ranksPerNode: number): Program {
  const innerOf = tiersOf(program, ranksPerNode);
  const rewrite = (operation: Operation): Operation => {
    if (operation.kind !== 'collective' || !takes(operation, algorithm)) return operation;
    const { inner: _, ...rest } = operation;
    if (algorithm !== 'hierarchical') return { ...rest, algorithm };
    const inner = innerOf(operation.axis);
    return inner === undefined ? operation : { ...rest, algorithm, inner };
  };
  const rewriteItem = (item: Item): Item =>
    item.kind === 'operation' ? { ...item, operation: rewrite(item.operation) } : item;
  return {
    ...program,
    templates: program.templates.map((each) => ({ ...each, operations: each.operations.map(rewrite) })),
    lists: program.lists.map((list) => ({ ...list, items: list.items.map(rewriteItem) })),
  };
}

/** Scalars are direct already; a shift has one way; routed rows, which have a table of counts, go to whom they are for. */
function takes({ collective, algorithm: now, reads }: Collective, algorithm: ForcedAlgorithm): boolean {
  if (now === 'direct' || collective === 'shift' || reads.length > 1) return false;
  if (algorithm === 'halving-doubling') return collective === 'all-reduce';
  return algorithms[algorithm].takes(collective, 2);
}

/** Members of a node of each group over an axis, where all groups over it have two tiers alike. */
function tiersOf(program: Program, ranksPerNode: number): (axis: string) => number | undefined {
  const known = new Map<string, number | undefined>();
  const degrees = degreesOf(program);
  const find = (axis: string): number | undefined => {
    const ways = degrees(axis);
    const world = program.mesh.axes.reduce((ranks, { degree }) => ranks * degree, 1);
    const nodesOf = (rank: number): readonly number[] =>
      membersOf(program, rank, axis).map((member) => Math.floor(member / ranksPerNode));
    const inner = nodesOf(0).filter((node, _, [first]) => node === first).length;
    if (inner <= 1 || inner >= ways || ways % inner !== 0) return undefined;
    for (let rank = 0; rank < world; rank++) {
      const nodes = nodesOf(rank);
      const fits = nodes.every((node, place) => node === nodes[place - (place % inner)]);
      if (!fits || new Set(nodes).size !== ways / inner) return undefined;
    }
    return inner;
  };
  return (axis) => {
    if (!known.has(axis)) known.set(axis, find(axis));
    return known.get(axis);
  };
}
