import type { Shown } from '@meshwright/core/plan';

/** Bytes of the fullest GPU of a plan. */
export const fullestBytes = ({ memory }: Shown): number =>
  Math.max(...memory.stages.map(({ deviceBytes }) => deviceBytes));

/** Plans that no other one beats in time and in memory, by time. */
export function frontOf(plans: readonly Shown[]): readonly Shown[] {
  return plans
    .filter(
      (one) =>
        !plans.some(
          (other) =>
            other !== one && other.step.seconds <= one.step.seconds && fullestBytes(other) <= fullestBytes(one),
        ),
    )
    .sort((a, b) => a.step.seconds - b.step.seconds);
}
