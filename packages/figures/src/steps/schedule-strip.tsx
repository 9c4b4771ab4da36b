/** @file The schedule below the GPUs: stages down, slots across; what is idle is hatched, and the cursor is the step. */
import { formatShare } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { onOperation, operationColour, surface } from '../palette/index.ts';
import { at, wrapText } from '../svg/geometry.ts';
import { counted } from '../svg/words.ts';
import type { Schedule } from './schedule.ts';
import type { StepScript } from './script.ts';
import type { Moment } from './state.ts';

const cellHeight = (stages: number): number => (stages > 8 ? 8 : 15);
const left = 52;

/** Height of the strip. */
export const scheduleHeight = (script: StepScript, schedule: Schedule, width: number): number =>
  12 + headLines(script, schedule, width).length * LINE + schedule.stages * cellHeight(schedule.stages) + 6;

const LINE = 14;

/** What the strip shows, in as many lines as its width asks for. */
const headLines = ({ microBatches }: StepScript, { idleShare }: Schedule, width: number): readonly string[] =>
  wrapText(
    `${counted(microBatches, 'micro-batch').replace('batchs', 'batches')} in slots of equal length: stages are idle ${formatShare(idleShare)} of the step`,
    width,
    11,
  );

interface StripProps {
  readonly script: StepScript;
  readonly moment: Moment;
  readonly width: number;
}

/** The grid, its corner at the origin. */
export function ScheduleStrip({ script, moment, width }: StripProps): VNode | null {
  const { schedule } = script;
  if (!schedule) return null;
  const { stages, slots, cells } = schedule;
  const [cell, height] = [(width - left) / slots, cellHeight(stages)];
  const cursor = cursorOf(script, moment);
  const lines = headLines(script, schedule, width);
  const top = 8 + LINE * lines.length;
  const numbers = cell >= 14 && height >= 12;
  return (
    <g>
      {lines.map((line, index) => (
        <text key={line} y={LINE * (index + 1)} class="small">
          {line}
        </text>
      ))}
      <rect x={left} y={top} width={at(width - left)} height={stages * height} fill="url(#mw-idle)" />
      {Array.from({ length: stages }, (_, stage) => (
        <text key={`stage ${stage + 0}`} y={top + stage * height + height - 3} class="small quiet">
          {height >= 12 || stage % 2 === 0 ? `stage ${stage}` : ''}
        </text>
      ))}
      {cells.map(({ list, slot, direction, microBatch }) => {
        const done = slot <= cursor;
        return (
          <g key={`${list} ${slot}`}>
            <rect
              x={at(left + slot * cell)}
              y={top + list * height}
              width={at(Math.max(0.6, cell - 1))}
              height={height - 1}
              fill={done ? operationColour(direction) : surface('background')}
              stroke={operationColour(direction)}
            />
            {numbers && (
              <text
                x={at(left + slot * cell + cell / 2)}
                y={top + list * height + 11}
                class="tiny middle"
                style={done ? `fill:${onOperation(direction)}` : undefined}
              >
                {microBatch}
              </text>
            )}
          </g>
        );
      })}
      {cursor >= 0 && (
        <line
          x1={at(left + (cursor + 1) * cell)}
          x2={at(left + (cursor + 1) * cell)}
          y1={top - 4}
          y2={top + 4 + stages * height}
          stroke={surface('text')}
          stroke-width="2"
        />
      )}
    </g>
  );
}

/** The last slot of the schedule that the steps so far have reached: the share of invocations that have begun. */
function cursorOf({ schedule, steps }: StepScript, { step }: Moment): number {
  if (!schedule || !step) return -1;
  const last = steps.at(-1)?.slot ?? 0;
  const computing = steps.filter(({ kind, phase }) => kind === 'compute' && phase !== 'update');
  const until = computing.at(-1)?.slot ?? last;
  return Math.min(
    schedule.slots - 1,
    Math.floor(((step.slot + (step.kind === 'compute' ? 1 : 0)) / (until + 1)) * schedule.slots) - 1,
  );
}
