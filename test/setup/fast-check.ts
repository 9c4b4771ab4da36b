import fc from 'fast-check';

/** One seed for every property, so that a failure repeats. `FC_SEED=n` and `FC_RUNS=n` explore further by hand. */
const seed = Number(process.env['FC_SEED'] ?? 20_240_501);
const numRuns = Number(process.env['FC_RUNS'] ?? 100);

fc.configureGlobal({
  seed,
  numRuns,
  reporter: (details) => {
    if (!details.failed) return;
    throw new Error(`seed ${details.seed}, path "${details.counterexamplePath}"\n${fc.defaultReportMessage(details)}`);
  },
});
