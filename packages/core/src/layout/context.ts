/** @file How context ranks share out heads and tokens of attention. */
import { divisorsOf } from '../mesh/index.ts';
import type { Layout } from './types.ts';

/** Context ranks that swap heads for tokens: none in a ring, all of them under all-to-all; under `hybrid` the largest
 * number below all that divides the context ranks and every number of heads of one rank, 1 where there is none. Groups of
 * so many neighbours swap, and a ring joins the groups.
 */
export function headRanks(
  { context, contextKind }: Pick<Layout, 'context' | 'contextKind'>,
  headsOfRank: readonly number[],
): number {
  switch (contextKind) {
    case 'ring':
    case 'all-gather':
      return 1;
    case 'all-to-all':
      return context;
    case 'hybrid':
      return (
        divisorsOf(context)
          .filter((ranks) => ranks < context && headsOfRank.every((heads) => heads % ranks === 0))
          .at(-1) ?? 1
      );
  }
}
