/** @file The figure of scaling: tokens per second and GPU over sizes of a cluster, where the time goes at each, and the knee. */
import type { ScalingCurve, Sweep } from '@meshwright/core/plan';
import type { VNode } from 'preact';
import { surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, textWidth, wrapText } from '../svg/geometry.ts';
import { grouped } from '../svg/words.ts';
import { Curve, curveHeight } from './curve.tsx';
import { partGroups } from './parts.ts';

/** What the figure is drawn from. */
export interface ScalingProps {
  readonly sweep: Sweep;
  /** Name of the job. */
  readonly name: string;
}

const margin = 24;
const width = 1160;
const gap = 48;
const head = 108;

/** Strong and weak scaling side by side, with one scale of tokens per second and GPU. */
export function Scaling({ sweep, name }: ScalingProps): VNode {
  const { curves, from, to } = sweep;
  const title = `${name} on ${grouped(from)} to ${grouped(to)} GPUs: what each size makes of a GPU`;
  const panel = (width - 2 * margin - gap * (curves.length - 1)) / Math.max(1, curves.length);
  const most = Math.max(1, ...curves.flatMap(({ points }) => points.map((point) => point.tokensPerSecondPerGpu)));
  const words = curves.map((curve) => wrapText(kneeWords(curve, sweep), panel));
  const foot = Math.max(...words.map((lines) => lines.length)) * 16;
  return (
    <Frame width={width} height={head + curveHeight + foot + 20} title={title} description={describe(sweep)}>
      <text x={margin} y="34" class="h1">
        {title}
      </text>
      <text x={margin} y="54" class="quiet">
        The best layout of each size. Below each point: where the time of its slowest GPU goes. Times rest on assumed
        rates (~).
      </text>
      <Legend y={76} />
      {curves.map((curve, index) => {
        const left = margin + index * (panel + gap);
        return (
          <g key={curve.kind}>
            <Curve curve={curve} left={left} top={head} width={panel} most={most} threshold={sweep.threshold} />
            {words[index]?.map((line, row) => (
              <text key={line} x={at(left)} y={at(head + curveHeight + 12 + row * 16)} class="quiet">
                {line}
              </text>
            ))}
          </g>
        );
      })}
    </Frame>
  );
}

function Legend({ y }: { readonly y: number }): VNode {
  let x = margin;
  return (
    <g>
      {partGroups.map(({ name, fill, hatch }) => {
        const left = x;
        x += 20 + textWidth(name) + 18;
        return (
          <g key={name} transform={`translate(${at(left)},${y})`}>
            <rect width="14" height="10" fill={fill} stroke={surface('line')} stroke-width="0.5" />
            {hatch && <rect width="14" height="10" fill={hatch} />}
            <text x="20" y="9">
              {name}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** The knee in a sentence, or that there is none. */
function kneeWords({ knee, points }: ScalingCurve, { threshold }: Sweep): string {
  if (knee) return `Knee at ${grouped(knee.gpus)} GPUs. ${knee.words}`;
  const last = points.at(-1);
  if (!last) return 'Nothing fits in this range.';
  return `No knee: ${grouped(last.gpus)} GPUs still reach ${(last.efficiency * 100).toFixed(1)} % of the best, not under ${threshold * 100} %.`;
}

function describe(sweep: Sweep): string {
  return sweep.curves
    .map((curve) => {
      const rows = curve.points.map(
        ({ gpus, tokensPerSecondPerGpu, efficiency }) =>
          `${gpus} GPUs: ${tokensPerSecondPerGpu.toFixed(0)} tokens/s/GPU, ${(efficiency * 100).toFixed(1)} % of the best`,
      );
      const gaps = curve.gaps.map(({ gpus, why }) => `${gpus} GPUs: ${why}`);
      return `${curve.kind} scaling. ${[...gaps, ...rows].join('; ')}. ${kneeWords(curve, sweep)}`;
    })
    .join(' ');
}
