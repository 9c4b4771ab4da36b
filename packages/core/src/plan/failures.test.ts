import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestInterval, type FailureTimes, failureAssumptions, failuresOf, lostTime } from './failures.ts';

const times: fc.Arbitrary<FailureTimes> = fc.record({
  meanSeconds: fc.double({ min: 60, max: 1e8, noNaN: true }),
  writeSeconds: fc.double({ min: 0.01, max: 1e4, noNaN: true }),
  restartSeconds: fc.double({ min: 0, max: 1e4, noNaN: true }),
});

/** Numbers between 0 and 1 that look drawn by chance (Park and Miller's multiplier). */
function* drawn(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}

/** Share of the time that is lost where failures come at any time, played out interval by interval. */
function playedOut({ meanSeconds, writeSeconds, restartSeconds }: FailureTimes, interval: number): number {
  const chance = drawn(7);
  const untilFailure = (): number => -meanSeconds * Math.log(chance.next().value);
  let [done, passed, left] = [0, 0, untilFailure()];
  for (let saved = 0; saved < 400_000; ) {
    const cycle = interval + writeSeconds;
    if (left >= cycle) {
      [done, passed, left, saved] = [done + interval, passed + cycle, left - cycle, saved + 1];
    } else {
      [passed, left] = [passed + left + restartSeconds, untilFailure()];
    }
  }
  return 1 - done / passed;
}

describe('what failures cost', () => {
  it('is least at sqrt(2 W M), whatever the times are', () => {
    fc.assert(
      fc.property(times, fc.double({ min: -3, max: 3, noNaN: true }), (each, power) => {
        const best = bestInterval(each);
        expect(best).toBeCloseTo(Math.sqrt(2 * each.writeSeconds * each.meanSeconds), 6);
        const [least, other] = [lostTime(each, best), lostTime(each, best * 10 ** power)];
        expect(least.share).toBeLessThanOrEqual(other.share + 1e-12);
        expect(least.writing).toBeCloseTo(least.repeated, 9);
        expect(other.writing + other.repeated + other.restarting).toBeCloseTo(other.share, 9);
        expect(other.share).toBeLessThan(1);
      }),
    );
  });

  it('is what failures by chance cost, where writing is rare against them', () => {
    const rare = { meanSeconds: 20_000, writeSeconds: 20, restartSeconds: 100 };
    for (const factor of [0.3, 1, 3]) {
      const interval = factor * bestInterval(rare);
      expect(playedOut(rare, interval) / lostTime(rare, interval).share).toBeCloseTo(1, 1);
    }
  });

  it('comes to the failures that Llama 3 405B had, and to the share of time that it kept', () => {
    const job = { devices: 16_384, nodes: 2048, checkpointBytes: 14 * 405e9, stepSeconds: 40 };
    const { meanSeconds, lost } = failuresOf(job);
    // 419 in 54 days: one in three hours. The paper says that more than 90 % of the time was training.
    expect((54 * 86_400) / meanSeconds).toBeCloseTo(419, 6);
    expect(lost.share).toBeLessThan(0.1);
  });

  it('follows the rates that somebody gives, and assumes only the others', () => {
    const job = { devices: 8, nodes: 1, checkpointBytes: 80e9, stepSeconds: 10 };
    const given = { deviceHours: 8000, restartSeconds: 60, storageBytesPerSecond: 4e9 };
    expect(failuresOf(job, given)).toMatchObject({
      meanSeconds: 3_600_000,
      writeSeconds: 20,
      restartSeconds: 60,
      intervalSeconds: 12_000,
      intervalSteps: 1200,
      rare: true,
    });
    expect(failureAssumptions(given)).toEqual([]);
    expect(failureAssumptions({ deviceHours: 8000 }).map(({ what }) => what)).toEqual([
      'seconds of a restart',
      'what a node writes to storage (bytes/s)',
    ]);
    for (const { low, value, high } of failureAssumptions({})) {
      expect(low).toBeLessThan(value);
      expect(value).toBeLessThan(high);
    }
  });

  it('counts whole steps, and says where writing is not rare', () => {
    const job = { devices: 100_000, nodes: 12_500, checkpointBytes: 14e12, stepSeconds: 600 };
    const slow = failuresOf(job, { deviceHours: 1000, storageBytesPerSecond: 100e9 });
    expect(slow).toMatchObject({ intervalSteps: 1, rare: false });
    expect(slow.lost).toEqual(lostTime(slow, 600));
  });
});
