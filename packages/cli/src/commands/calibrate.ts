/** @file `meshwright calibrate --here`: measures this machine kernel by kernel and exchange by exchange, and writes it as a
 * cluster that plans, simulations and runs may name.
 */
import { isAbsolute } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import { type KernelSample, type MachineSamples, machineText } from '@meshwright/core/calibrate';
import { InputError, issue } from '@meshwright/core/errors';
import { formatCount } from '@meshwright/core/units';
import type { Host, Session } from '../host.ts';
import { refuseExisting, saveNamed } from '../input/files.ts';
import { kernelsOption, wholeOption } from '../input/run-request.ts';
import { count, fixed, whole } from '../output/numbers.ts';
import { createProgress } from '../output/progress.ts';
import { jsonOption, printReport, type Report } from '../output/report.ts';
import { numbers, tableOf, words } from '../output/table.ts';
import { EXCHANGE_SIZES, measureMachine } from './measure-machine.ts';

const USUAL_RANKS = 8;
const USUAL_STEPS = 5;
/** Ranks that one machine runs. */
const MOST_RANKS = 16;

/** Adds `calibrate --here`. */
export function registerCalibrate(command: Command, session: Session): void {
  command
    .command('calibrate')
    .description(
      'Measures this machine, kernel by kernel, and writes it as a cluster file: predicted seconds of real runs.',
    )
    .option('--here', 'this machine, with the kernels of the runtime')
    .option('--output <FILE>', 'the cluster file to write (default: here.yaml)')
    .option('--force', 'write over a file that is there')
    .addOption(
      new Option('--ranks <N>', 'ranks of the cluster').argParser(wholeOption('--ranks', 1)).default(USUAL_RANKS),
    )
    .addOption(
      new Option('--steps <N>', 'steps of each program; the fastest counts')
        .argParser(wholeOption('--steps', 2))
        .default(USUAL_STEPS),
    )
    .addOption(kernelsOption())
    .addOption(jsonOption())
    .action(async (options) => {
      const { host } = session;
      const { ranks, steps, kernels } = options;
      const path = options.output ?? 'here.yaml';
      check(options.here === true, ranks, path, options.force === true, host);
      const progress = createProgress(host);
      const onProgress = (what: string, done: number, all: number): void =>
        progress.update(`${what}: ${whole(done)} of ${whole(all)}`);
      const machine = await measureMachine({ ranks, steps, kernels, onProgress }).finally(() => progress.done());
      const text = machineText(machine);
      saveNamed(path, text, host);
      printReport(calibrateReport(machine, path, text), options.json ? 'json' : 'text', host);
    });
}

function check(here: boolean, ranks: number, path: string, force: boolean, host: Host): void {
  if (!here) {
    const message = 'calibrate measures this machine and nothing else yet.';
    throw new InputError([issue('OPTIONS_CONTRADICT', 'calibrate', message, 'Write meshwright calibrate --here.')]);
  }
  if (ranks > MOST_RANKS) {
    const message = `${ranks} ranks are more than the ${MOST_RANKS} that one machine runs.`;
    throw new InputError([issue('RANKS_TOO_MANY', '--ranks', message, `Use ${MOST_RANKS} or fewer.`)]);
  }
  if (!force) refuseExisting([path], host);
}

function calibrateReport(machine: MachineSamples, path: string, text: string): Report {
  const { ranks, kernels, exchanges } = machine;
  const names = [...new Set(kernels.map(({ kernel }) => kernel))].sort();
  return {
    answer: `${machine.machine}: ${whole(kernels.length)} shapes of ${count(names.length, 'kernel')} and ${count(exchanges.length, 'exchange')} measured, written to ${path}`,
    tables: [
      tableOf(
        names.map((name) => largestOf(kernels, name)),
        [
          words('kernel', ({ kernel }) => kernel),
          numbers('shapes', ({ kernel }) => whole(kernels.filter((each) => each.kernel === kernel).length)),
          words('largest', ({ flops, bytes }) => `${formatCount(flops)}FLOP, ${formatCount(bytes)}B`),
          numbers('us', ({ seconds }) => fixed(seconds * 1e6, 1)),
          numbers('GFLOP/s', ({ flops, seconds }) => fixed(flops / seconds / 1e9, 2)),
          numbers('GB/s', ({ bytes, seconds }) => fixed(bytes / seconds / 1e9, 2)),
        ],
        'kernels, fastest of each operation',
      ),
      tableOf(
        exchanges.filter(({ bytes }) => bytes === EXCHANGE_SIZES[0] || bytes === EXCHANGE_SIZES.at(-1)),
        [
          words('exchange', ({ kind }) => kind),
          numbers('ranks', (each) => whole(each.ranks)),
          numbers('bytes', ({ bytes }) => whole(bytes)),
          numbers('us', ({ seconds }) => fixed(seconds * 1e6, 1)),
          numbers('GB/s', ({ bytes, seconds }) => fixed(bytes / seconds / 1e9, 2)),
        ],
        'exchanges, bytes of the full buffer',
      ),
    ],
    reasons: [
      `Name it in a job: cluster: ${isAbsolute(path) ? path : `./${path}`} (its gpusPerNode, ${ranks}, is the number of ranks).`,
    ],
    json: () => ({ schema: 'meshwright.calibrate/1', file: path, cluster: text, ...machine }),
  };
}

/** Of one kernel, the shape that took longest. */
const largestOf = (kernels: readonly KernelSample[], name: string): KernelSample =>
  kernels.filter(({ kernel }) => kernel === name).reduce((most, each) => (each.seconds > most.seconds ? each : most));
