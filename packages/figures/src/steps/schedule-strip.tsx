/** @file The schedule below the GPUs: stages down, slots across; what is idle is hatched, and the cursor is the step. */
import { formatShare } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { onOperation, operationColour, surface } from '../palette/index.ts';
import { at } from '../svg/geometry.ts';
import { counted } from '../svg/words.ts';
import type { Schedule } from './schedule.ts';
import type { StepScript } from './script.ts';
import type { Moment } from './state.ts';

const cellHeight = (stages: number): number => (stages > 8 ? 8 : 15);
const left = 52;

/** Height of the strip. */
export const scheduleHeight = ({ stages }: Schedule): number => 26 + stages * cellHeight(stages) + 6;

interface StripProps {
  readonly script: StepScript;
  readonly moment: Moment;
  readonly width: number;
}

/** The grid, its corner at the origin. */
export function ScheduleStrip({ script, moment, width }: StripProps): VNode | null {
  const { schedule } = script;
  if (!schedule) return null;
  const { stages, slots, cells, idleShare } = schedule;
  const [cell, height] = [(width - left) / slots, cellHeight(stages)];
  const cursor = cursorOf(script, moment);
  const numbers = cell >= 14 && height >= 12;
  return (
    <g>
      <text y="14" class="small">
        {`${counted(script.microBatches, 'micro-batch').replace('batchs', 'batches')} in slots of equal length: stages are idle ${formatShare(idleShare)} of the step`}
      </text>
      <rect x={left} y="22" width={at(width - left)} height={stages * height} fill="url(#mw-idle)" />
      {Array.from({ length: stages }, (_, stage) => (
        <text key={`stage ${stage + 0}`} y={22 + stage * height + height - 3} class="small quiet">
          {height >= 12 || stage % 2 === 0 ? `stage ${stage}` : ''}
        </text>
      ))}
      {cells.map(({ list, slot, direction, microBatch }) => {
        const done = slot <= cursor;
        return (
          <g key={`${list} ${slot}`}>
            <rect
              x={at(left + slot * cell)}
              y={22 + list * height}
              width={at(Math.max(0.6, cell - 1))}
              height={height - 1}
              fill={done ? operationColour(direction) : surface('background')}
              stroke={operationColour(direction)}
            />
            {numbers && (
              <text
                x={at(left + slot * cell + cell / 2)}
                y={22 + list * height + 11}
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
          y1="18"
          y2={26 + stages * height}
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
