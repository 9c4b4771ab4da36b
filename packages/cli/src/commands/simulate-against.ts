/** @file `simulate --against run.json`: a measured step over the simulated one, as tables, as a figure, as JSON, and the
 * measured one as a trace.
 */

import { InputError, issue, quote } from '@meshwright/core/errors';
import { tracedRanks } from '@meshwright/core/export';
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout } from '@meshwright/core/layout';
import type { Program } from '@meshwright/core/program';
import type { Overlay } from '@meshwright/core/sim';
import type { Host } from '../host.ts';
import { readRunFile } from '../input/run-file.ts';
import { comparedStep, isCalibrated } from '../output/measured-step.ts';
import { fixed, percent } from '../output/numbers.ts';
import { overlayAxisTable, overlayKindTable, overlayLaneTable } from '../output/overlay-tables.ts';
import { createProgress } from '../output/progress.ts';
import { type Format, printReport, type Report } from '../output/report.ts';
import { drawOverlay } from './figure-drawings.ts';
import { type OutputOptions, readOutputs, type WrittenFile, writeOutputs } from './simulate-outputs.ts';

export interface AgainstOptions extends OutputOptions {
  readonly against: string;
  readonly microBatches?: number | undefined;
  readonly svg?: true | undefined;
}

/** What is simulated. */
export interface Against {
  readonly job: Job;
  readonly layout: Layout;
  readonly program: Program;
}

/** Compares and prints. Throws RUN_OF_ANOTHER when the run is of another job or layout. */
export async function simulateAgainst(
  { job, layout, program }: Against,
  options: AgainstOptions,
  format: Format,
  host: Host,
): Promise<void> {
  const run = readRunFile(options.against, host);
  const short = formatLayout(layout);
  if (run.job !== job.name || run.layout !== short || options.microBatches !== undefined) {
    const message = `${quote(options.against)} is a run of ${run.job} under ${run.layout}; simulated is ${job.name} under ${short}.`;
    const hint = `Simulate all of that job with --layout ${run.layout}.`;
    throw new InputError([issue('RUN_OF_ANOTHER', '--against', message, hint)]);
  }
  const { simulated, measured, overlay } = comparedStep(job, layout, program, run.timeline);
  const ranks = tracedRanks(program, 'one-per-list', job.cluster.gpusPerNode, simulated.graph);
  const outputs = readOutputs(options, job.name, [], host);
  const progress = createProgress(host);
  const lists = simulated.lists.map(({ expanded }) => expanded);
  const files = await writeOutputs(outputs, { program, lists, ranks, timeline: run.timeline }, [], progress, host);
  progress.done();
  if (options.svg === true) {
    for (const { path } of files) host.err.write(`wrote ${path}\n`);
    return host.out.write(drawOverlay(simulated, measured, layout.schedule));
  }
  printReport(overlayReport(overlay, isCalibrated(job), short, files), format, host);
}

function overlayReport(overlay: Overlay, calibrated: boolean, layout: string, files: readonly WrittenFile[]): Report {
  const { simulatedSeconds, measuredSeconds } = overlay;
  const milliseconds = (seconds: number): string => fixed(seconds * 1e3, 2);
  const axes = overlayAxisTable(overlay);
  return {
    answer: `simulated ${milliseconds(simulatedSeconds)} ms, measured ${milliseconds(measuredSeconds)} ms: ${percent(simulatedSeconds / measuredSeconds - 1, 0)} %`,
    tables: [overlayKindTable(overlay), ...(axes ? [axes] : []), overlayLaneTable(overlay)],
    reasons: [
      'Of collectives the time counts from the arrival of their last rank: what the others wait is idle time of theirs.',
      ...(calibrated
        ? []
        : [
            'The cluster of the job is not this machine: only the order of operations can be compared. See meshwright calibrate --here.',
          ]),
      ...files.map(({ path }) => `The measured step is in ${path}.`),
    ],
    json: () => ({ schema: 'meshwright.overlay/1', layout, calibrated, ...overlay, files }),
  };
}
