/** @file The figure of checkpoints: the share of the time that is lost over the work between two of them, with its least. */
import type { Failures, LostAt } from '@meshwright/core/plan';
import { formatDuration, formatShare, seconds } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, wrapText } from '../svg/geometry.ts';

/** What the figure is drawn from: what failures cost, and what is lost at intervals around the best, shortest first. */
export interface CheckpointsProps {
  readonly failures: Failures;
  readonly curve: readonly LostAt[];
  /** Pixels; 760 when absent. */
  readonly width?: number;
}

const height = 300;
const plot = { left: 48, right: 16, bottom: 40 };

/** Lines of the figure: what they show, and how they are drawn. */
const lines = [
  { name: 'lost in all', of: 'share', stroke: operationColour('forward'), dash: undefined, thick: 2.5 },
  { name: 'writing', of: 'writing', stroke: operationColour('send'), dash: '6 3', thick: 1.5 },
  { name: 'work done again', of: 'repeated', stroke: operationColour('backward'), dash: '2 3', thick: 1.5 },
  { name: 'restarts', of: 'restarting', stroke: surface('quiet'), dash: '8 3 2 3', thick: 1.5 },
] as const;

const long = (value: number): string => formatDuration(seconds(value));

/** Lost time over the interval between checkpoints, both ends on a scale of ratios. */
export function Checkpoints({ failures, curve, width = 760 }: CheckpointsProps): VNode {
  const { intervalSeconds, intervalSteps, lost, meanSeconds } = failures;
  const [first = intervalSeconds, last = intervalSeconds] = [curve[0]?.seconds, curve.at(-1)?.seconds];
  const most = Math.max(1e-9, ...curve.map((point) => point.lost.share));
  const x = (value: number): number =>
    plot.left + (Math.log(value / first) / Math.log(last / first || 1)) * (width - plot.left - plot.right);
  const title = `Least is lost with a checkpoint every ${long(intervalSeconds)}~: ${formatShare(lost.share)} of the time~`;
  const head = wrapText(title, width - 20, 14);
  const columns = width > 600 ? lines.length : 2;
  const legendTop = 10 + head.length * 17;
  const top = legendTop + 18 * Math.ceil(lines.length / columns) + 8;
  const y = (share: number): number => top + (1 - share / most) * (height - top - plot.bottom);
  return (
    <Frame
      width={width}
      height={height}
      title={title}
      description={`Failures stop the job once in ${long(meanSeconds)}. ${curve.map((point) => `every ${long(point.seconds)}: ${formatShare(point.lost.share)}`).join('; ')}.`}
    >
      {head.map((line, index) => (
        <text key={line} x="4" y={18 + index * 17} class="h2">
          {line}
        </text>
      ))}
      <Legend top={legendTop} columns={columns} />
      <Scale most={most} y={y} width={width} />
      {lines.map(({ name, of, stroke, dash, thick }) => (
        <polyline
          key={name}
          points={curve.map((point) => `${at(x(point.seconds))},${at(y(point.lost[of]))}`).join(' ')}
          fill="none"
          stroke={stroke}
          stroke-width={thick}
          {...(dash !== undefined && { 'stroke-dasharray': dash })}
        />
      ))}
      <line
        x1={at(x(intervalSeconds))}
        x2={at(x(intervalSeconds))}
        y1={top}
        y2={height - plot.bottom}
        stroke={surface('alarm')}
        stroke-dasharray="5 4"
      />
      <text x={at(x(intervalSeconds) + 6)} y={top + 12} class="small alarm">
        {`every ${intervalSteps.toLocaleString('en-US')} ${intervalSteps === 1 ? 'step' : 'steps'}`}
      </text>
      {[first, intervalSeconds, last].map((value, index) => (
        <text
          key={value}
          x={at(x(value))}
          y={height - plot.bottom + 18}
          class={`small quiet${index === 0 ? '' : index === 1 ? ' middle' : ' end'}`}
        >
          {index === 0 && width > 600 ? `work between checkpoints: ${long(value)}` : long(value)}
        </text>
      ))}
    </Frame>
  );
}

interface ScaleProps {
  readonly most: number;
  /** Of the figure, in pixels. */
  readonly width: number;
  y(share: number): number;
}

/** Shares at the bottom, in the middle and at the top. */
const Scale = ({ most, y, width }: ScaleProps): VNode => (
  <g>
    {[0, 0.5, 1].map((part) => (
      <g key={part}>
        <line
          x1={plot.left}
          x2={width - plot.right}
          y1={at(y(part * most))}
          y2={at(y(part * most))}
          stroke={surface('line')}
          stroke-width="0.7"
        />
        <text x={plot.left - 6} y={at(y(part * most) + 4)} class="small quiet end">
          {formatShare(part * most)}
        </text>
      </g>
    ))}
  </g>
);

interface LegendProps {
  readonly top: number;
  readonly columns: number;
}

const Legend = ({ top, columns }: LegendProps): VNode => (
  <g>
    {lines.map(({ name, stroke, dash, thick }, index) => (
      <g
        key={name}
        transform={`translate(${4 + (index % columns) * 150},${top + 14 + 18 * Math.floor(index / columns)})`}
      >
        <line
          x1="0"
          x2="24"
          y1="-4"
          y2="-4"
          stroke={stroke}
          stroke-width={thick}
          {...(dash !== undefined && { 'stroke-dasharray': dash })}
        />
        <text x="30" y="0">
          {name}
        </text>
      </g>
    ))}
  </g>
);
