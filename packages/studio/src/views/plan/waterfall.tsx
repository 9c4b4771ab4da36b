/** @file Where one step goes: parts below each other, each beginning where the one before ends. */

import type { Shown } from '@meshwright/core/plan';
import { type OperationRole, operationColour } from '@meshwright/figures';
import type { VNode } from 'preact';
import { Heads } from '../../parts/heads.tsx';
import { share, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

const parts: Readonly<Record<string, readonly [words: string, colour: OperationRole, waits: boolean]>> = {
  ideal: ['compute at peak rate', 'forward', false],
  inefficiency: ['what it takes beyond that', 'forward', false],
  memoryBound: ['other kernels', 'backward', false],
  recompute: ['recomputation', 'backward', false],
  optimizer: ['norm and optimizer', 'optimizer', false],
  tensor: ['waiting: tensor', 'collective', true],
  context: ['waiting: context', 'collective', true],
  expert: ['waiting: expert', 'collective', true],
  data: ['waiting: data', 'collective', true],
  pipelineSend: ['waiting: sends', 'send', true],
  bubble: ['pipeline bubble', 'send', true],
  host: ['waiting: the host', 'send', true],
  offload: ['waiting: offload', 'send', true],
};

const row = 22;
const [left, width] = [170, 200] as const;

/** The parts of the step of one plan; they add up to it. Waiting is hatched. */
export function Waterfall({ shown }: { readonly shown: Shown }): VNode {
  const { seconds, partsSeconds, hiddenSeconds } = shown.step;
  const rows = Object.entries(partsSeconds).filter(([, value]) => value / seconds >= 0.0005);
  return (
    <figure class="waterfall">
      <figcaption>
        <h3>{`Where one step goes: ${time(seconds)}~`}</h3>
      </figcaption>
      <svg
        viewBox={`0 0 ${left + width + 96} ${rows.length * row + 4}`}
        role="img"
        aria-label={`Parts of a step of ${time(seconds)}, as in the table below`}
      >
        <defs>
          <pattern id="waits" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line x1="0" y1="0" x2="0" y2="5" stroke="var(--mw-background)" stroke-width="2.4" />
          </pattern>
        </defs>
        <Bars rows={rows} seconds={seconds} />
      </svg>
      <p class="quiet">{`Hidden behind compute: ${time(hiddenSeconds)} of exchanges.`}</p>
      <details>
        <summary>As a table</summary>
        <Scroll name="Parts of the step">
          <table>
            <Heads columns={['Part', 'Time', 'Share of the step']} />
            <tbody>
              {rows.map(([part, value]) => (
                <tr key={part}>
                  <td>{parts[part]?.[0] ?? part}</td>
                  <td class="number">{time(value)}</td>
                  <td class="number">{share(value / seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  );
}

interface BarsProps {
  readonly rows: readonly (readonly [part: string, seconds: number])[];
  readonly seconds: number;
}

/** Each begins where the one before ends. */
function Bars({ rows, seconds }: BarsProps): VNode {
  let from = 0;
  return (
    <g>
      {rows.map(([part, value], index) => {
        const [words, colour, waits] = parts[part] ?? [part, 'send' as const, true];
        const x = left + (from / seconds) * width;
        from += value;
        const size = Math.max(1, (value / seconds) * width);
        const y = index * row + 4;
        return (
          <g key={part}>
            <text x="0" y={y + 12}>
              {words}
            </text>
            <rect x={x} y={y} width={size} height="15" fill={operationColour(colour)} />
            {waits && <rect x={x} y={y} width={size} height="15" fill="url(#waits)" />}
            <text x={left + width + 92} y={y + 12} text-anchor="end">
              {`${time(value)}  ${share(value / seconds)}`}
            </text>
          </g>
        );
      })}
    </g>
  );
}
