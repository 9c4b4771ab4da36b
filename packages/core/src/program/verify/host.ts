/** @file What lies in host memory.
 *
 * The law of places: only copies touch both memories. A copy out reads the device and writes the host, a copy in does the
 * reverse; what the host updates is all of its own memory but for scalars; everything else is on the device.
 *
 * The law of copies: what goes out is the whole gradient, complete; what comes in are the weights that the host has just
 * updated, and they come for every bucket that it updates.
 */
import type { ExpandedOperation, Operand } from '../expand.ts';
import type { Lane } from '../types.ts';
import { incomplete, readGradient, writeUpdated } from './optimizer.ts';
import type { Walk } from './walk.ts';

type Place = 'device' | 'host';

/** Where an operation reads and where it writes. */
function placesOf(lane: Lane): { readonly from: Place; readonly to: Place } {
  if (lane === 'host.out') return { from: 'device', to: 'host' };
  if (lane === 'host.in') return { from: 'host', to: 'device' };
  const place = lane === 'host.update' ? 'host' : 'device';
  return { from: place, to: place };
}

/** Refuses operands that lie in the memory of the other side. */
export function checkPlaces(walk: Walk, expanded: ExpandedOperation): void {
  const { from, to } = placesOf(expanded.operation.lane);
  const check = (operand: Operand | undefined, wanted: Place, does: string): void => {
    const { dims, place = 'device' } = operand?.instance.declaration ?? { dims: [] };
    // Scalars are handed over with the call.
    if (operand === undefined || dims.length === 0 || place === wanted) return;
    walk.find(expanded, {
      code: 'PLACE_WRONG',
      message: `${operand.instance.name} lies in the memory of the ${place}: ${expanded.operation.lane} ${does} that of the ${wanted}.`,
      hint: 'Copy it first.',
    });
  };
  for (const read of expanded.reads) check(read, from, 'reads');
  for (const { operand } of expanded.writes) check(operand, to, 'writes');
}

/** The gradient of a bucket as it is, now in host memory. */
export function copyOut(walk: Walk, expanded: ExpandedOperation): void {
  const [operand] = expanded.reads;
  const bucket = operand && walk.states.bucketOf(operand.instance);
  if (operand === undefined || bucket === undefined) return;
  const { cut, views } = readGradient(walk, expanded, operand, bucket);
  for (const { operand: to } of expanded.writes) {
    walk.states.buckets.set(to.instance.name, { kind: 'bucket', cut, views: new Map(views) });
    walk.unread.set(to.instance.name, expanded);
  }
}

/** New weights of a bucket, back on the device. */
export function copyIn(walk: Walk, expanded: ExpandedOperation): void {
  const [operand] = expanded.reads;
  const bucket = operand?.instance.declaration.bucket ?? '';
  if (!walk.awaited.delete(bucket)) {
    walk.find(expanded, incomplete(bucket, 'weights that the host has not updated are copied'));
  }
  const cut = operand && walk.states.buckets.get(operand.instance.name)?.cut;
  for (const { operand: to } of expanded.writes) writeUpdated(walk, expanded, to, cut);
}
