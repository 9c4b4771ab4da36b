/** @file The figure of a timeline: one step of every stage, as the simulator placed it. */

import { worldSize } from '@meshwright/core/mesh';
import type { SimulatedStep } from '@meshwright/core/sim';
import { formatSeconds, formatShare, seconds } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, textWidth, wrapText } from '../svg/geometry.ts';
import { counted, layoutWords } from '../svg/words.ts';
import { type ComputeRole, type ExchangeRow, type Interval, type StageTimeline, stageTimelines } from './facts.ts';
import { type TimeScale, timeScale } from './scale.ts';
import { Stage, type StageColumns, stageHeight } from './stage.tsx';

/** What the figure is drawn from. */
export interface TimelineProps {
  readonly step: SimulatedStep;
  /** Name of the schedule: a program does not know it. */
  readonly schedule?: string;
  /** A part of the step, in seconds; all of it when absent. */
  readonly window?: Interval;
}

const margin = 24;
const width = 1160;
const columns: StageColumns = { left: margin, plot: 186, width: 880 };
const head = 100;
/** More stages than this are shown by the first and the last of them. */
const MOST_STAGES = 16;
/** With more stages their exchanges take too much room. */
const MOST_WITH_EXCHANGES = 8;

/** The stages of a step below each other, time from left to right. */
export function StepTimeline({ step, schedule, window = [0, step.seconds] }: TimelineProps): VNode {
  const all = stageTimelines(step);
  const half = MOST_STAGES / 2;
  const stages = all.length <= MOST_STAGES ? all : [...all.slice(0, half), ...all.slice(-half)];
  const rows = rowsOf(stages);
  const scale = timeScale(window, columns.plot, columns.width);
  const lines = wrapText(explain(step, all, stages.length, window), width - 2 * margin);
  const top = head + (lines.length - 1) * 16;
  const bottom = top + 18 + stages.length * stageHeight(rows);
  return (
    <Frame width={width} height={at(bottom + 12)} title={titleOf(step, schedule)} description={describe(step, all)}>
      <text x={margin} y="34" class="h1">
        {titleOf(step, schedule)}
      </text>
      {lines.map((line, index) => (
        <text key={line} x={margin} y={54 + index * 16} class="quiet">
          {line}
        </text>
      ))}
      <Legend y={top - 28} rows={rows} again={uses(stages, 'again')} splits={uses(stages, 'weight')} />
      <TimeAxis scale={scale} top={top + 14} bottom={bottom - 10} />
      {stages.map((stage, index) => (
        <g key={stage.stage} transform={`translate(0,${top + 22 + index * stageHeight(rows)})`}>
          <Stage
            stage={stage}
            rows={rows}
            scale={scale}
            columns={columns}
            layers={step.program.layers}
            total={step.seconds}
          />
        </g>
      ))}
    </Frame>
  );
}

/** Rows that any stage has something in. */
function rowsOf(stages: readonly StageTimeline[]): readonly ExchangeRow[] {
  if (stages.length > MOST_WITH_EXCHANGES) return [];
  const order: readonly ExchangeRow[] = ['tensor', 'context', 'expert', 'data', 'ends', 'stages'];
  return order.filter((row) => stages.some(({ exchanges }) => exchanges[row].length > 0));
}

const uses = (stages: readonly StageTimeline[], wanted: ComputeRole): boolean =>
  stages.some((stage) => stage.invocations.some((each) => each.stretches.some(({ role }) => role === wanted)));

/** Drawn lower than the rest: nobody waits for it. */
const LOW = 'weight part of backward';

interface LegendProps {
  readonly y: number;
  readonly rows: readonly ExchangeRow[];
  readonly again: boolean;
  readonly splits: boolean;
}

function Legend({ y, rows, again, splits }: LegendProps): VNode {
  const entries = [
    ['forward', operationColour('forward'), undefined],
    ...(again ? [['forward again', operationColour('forward'), 'url(#mw-again)'] as const] : []),
    ['backward', operationColour('backward'), undefined],
    ...(splits ? [[LOW, operationColour('backward'), undefined] as const] : []),
    ['norm and optimizer', operationColour('optimizer'), undefined],
    ...(rows.some((row) => row !== 'stages')
      ? [['collectives', operationColour('collective'), undefined] as const]
      : []),
    ...(rows.includes('stages') ? [['send and receive', operationColour('send'), undefined] as const] : []),
    ['idle', 'none', 'url(#mw-idle)'],
  ] as const;
  let x = margin;
  return (
    <g>
      {entries.map(([words, fill, hatch]) => {
        const left = x;
        x += 20 + textWidth(words) + 18;
        return (
          <g key={words} transform={`translate(${at(left)},${y})`}>
            <rect {...(words === LOW && { y: 4 })} width="14" height={words === LOW ? 6 : 10} fill={fill} />
            {hatch && <rect width="14" height="10" fill={hatch} />}
            <text x="20" y="9">
              {words}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface TimeAxisProps {
  readonly scale: TimeScale;
  readonly top: number;
  readonly bottom: number;
}

function TimeAxis({ scale, top, bottom }: TimeAxisProps): VNode {
  return (
    <g>
      {scale.ticks.map(({ x, text }) => (
        <g key={text}>
          <line x1={at(x)} x2={at(x)} y1={top + 4} y2={bottom} stroke={surface('line')} stroke-width="0.7" />
          <text x={at(x)} y={top} class="small quiet middle">
            {text}
          </text>
        </g>
      ))}
      <text x={columns.plot - 12} y={top} class="small quiet end">
        ms
      </text>
      <text x={columns.plot + columns.width + 22} y={top} class="small quiet">
        idle
      </text>
    </g>
  );
}

const titleOf = ({ program, seconds: total }: SimulatedStep, schedule: string | undefined): string => {
  const gpus = counted(worldSize(program.mesh), 'GPU');
  const named = schedule === undefined || schedule === 'none' ? '' : `, ${schedule}`;
  return `One step of ${program.name} on ${gpus}: ${layoutWords(program.mesh)}${named}: ${formatSeconds(seconds(total))}~`;
};

function explain(
  { program, seconds: total }: SimulatedStep,
  all: readonly StageTimeline[],
  shown: number,
  [from, to]: Interval,
): string {
  const ranks = worldSize(program.mesh) / all.length;
  const same = ranks > 1 ? ` The ${ranks} ranks of a stage run alike.` : '';
  const letters = all.some(({ chunks }) => chunks.length > 1) ? ' Letters name the chunks of a stage.' : '';
  const few = shown < all.length ? ` The first and the last ${shown / 2} of ${all.length} stages are shown.` : '';
  const part =
    from > 0 || to < total ? ` Shown from ${formatSeconds(seconds(from))} to ${formatSeconds(seconds(to))}.` : '';
  const shares = all.map(({ computing }) => 1 - computing / total);
  const mean = shares.reduce((sum, each) => sum + each, 0) / shares.length;
  return (
    `${counted(program.microBatches, 'micro-batch').replace('micro-batchs', 'micro-batches')} a step. Compute is idle ` +
    `${formatShare(mean)} of the time${all.length > 1 ? ' on average over the stages' : ''}.${letters}${same}${few}${part} ` +
    'Times rest on assumed rates (~); the bytes do not.'
  );
}

function describe(step: SimulatedStep, all: readonly StageTimeline[]): string {
  const stages = all.map(({ stage, invocations, computing }) => {
    const order = invocations
      .filter(({ role }) => role !== 'optimizer')
      .slice(0, 12)
      .map(({ role, microBatch }) => `${role.charAt(0).toUpperCase()}${microBatch}`)
      .join(' ');
    return `Stage ${stage} is idle ${formatShare(1 - computing / step.seconds)}; it begins with ${order}.`;
  });
  return [explain(step, all, all.length, [0, step.seconds]), ...stages].join(' ');
}
