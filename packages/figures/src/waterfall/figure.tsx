/** @file Where one step goes: its parts below each other, each beginning where the one before ends. */
import type { Shown } from '@meshwright/core/plan';
import { formatSeconds, formatShare, seconds as inSeconds } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at } from '../svg/geometry.ts';
import { partsInSight, stepParts } from './parts.ts';

/** What the figure is drawn from. */
export interface WaterfallProps {
  readonly step: Shown['step'];
}

const row = 22;
const [left, room, width] = [170, 184, 470] as const;
const time = (value: number): string => formatSeconds(inSeconds(value));

/** The parts of one step; they add up to it. */
export function Waterfall({ step }: WaterfallProps): VNode {
  const { seconds } = step;
  const rows = partsInSight(step);
  const title = `Where one step of ${time(seconds)}~ goes`;
  const told = rows.map(([part, value]) => `${stepParts[part].words} ${time(value)}, ${formatShare(value / seconds)}`);
  const hidden = `Hidden behind compute: ${time(step.hiddenSeconds)} of exchanges.`;
  let from = 0;
  return (
    <Frame width={width} height={rows.length * row + 30} title={title} description={`${told.join('; ')}. ${hidden}`}>
      {rows.map(([part, value], index) => {
        const x = at(left + (from / seconds) * room);
        from += value;
        const size = at(Math.max(1, (value / seconds) * room));
        const y = index * row + 4;
        const { words, colour, waits } = stepParts[part];
        return (
          <g key={part}>
            <text x="4" y={y + 12}>
              {words}
            </text>
            <rect x={x} y={y} width={size} height="15" fill={operationColour(colour)} />
            {waits && <rect x={x} y={y} width={size} height="15" fill="url(#mw-again)" />}
            <text x={width - 52} y={y + 12} class="end">
              {time(value)}
            </text>
            <text x={width - 4} y={y + 12} class="end quiet">
              {formatShare(value / seconds)}
            </text>
          </g>
        );
      })}
      <line x1={left} x2={left} y1="2" y2={rows.length * row + 4} stroke={surface('line')} />
      <text x="4" y={rows.length * row + 22} class="small quiet">
        {hidden}
      </text>
    </Frame>
  );
}
