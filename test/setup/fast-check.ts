import fc from 'fast-check';

/** One seed for every property, so that a failure repeats; fast-check prints seed and path with the counterexample.
 * `FC_SEED=n` and `FC_RUNS=n` explore further by hand. */
fc.configureGlobal({
  seed: Number(process.env['FC_SEED'] ?? 20_240_501),
  numRuns: Number(process.env['FC_RUNS'] ?? 100),
});
