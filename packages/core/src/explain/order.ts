/** @file Which axis belongs on the fastest links: every order of the axes of one layout, and why the best is not the usual one
 * where it is not.
 */
import type { Job } from '../job/index.ts';
import { type OrderSearch, searchOrders } from '../plan/index.ts';
import { answerOf } from './flow/index.ts';
import type { LegalTrial } from './trials.ts';
import type { FlowStep } from './types.ts';
import { quantity, time } from './words.ts';

/** The orders of the layout that the search found; none where fewer than two axes, or no tensor axis, can be placed. */
export function orderStep(job: Job, { candidate: { layout } }: Pick<LegalTrial, 'candidate'>): readonly FlowStep[] {
  const found = searchOrders(job, layout);
  if (found.usual === undefined) return [];
  return [
    {
      step: 'order',
      question: 'Does tensor belong innermost, on the fastest links, and data or pipeline outermost?',
      numbers: found.tried.map(({ order, seconds }) => quantity(`step with ${order.join('-')}`, seconds, 'seconds')),
      answer: wordsOf(found),
      decision: found.usual ? 'yes' : 'no',
    },
  ];
}

function wordsOf({ tried, best, usual, exception }: OrderSearch): string {
  const slowest = tried.at(-1);
  const [fastest] = best;
  if (slowest === undefined || fastest === undefined) return '';
  if (!usual) return answerOf('no', exception?.words.replace(/\.$/, '') ?? '', '');
  const span = `of ${tried.length} orders none is faster; ${slowest.order.join('-')} takes ${time(slowest.seconds)} in place of ${time(fastest.seconds)}`;
  return answerOf('yes', span, '');
}
