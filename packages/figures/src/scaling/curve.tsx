/** @file One curve of scaling: a point and a bar for each size. Sizes stand side by side, whatever their distance is. */
import type { ScalingCurve, SweepPoint } from '@meshwright/core/plan';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { at } from '../svg/geometry.ts';
import { grouped } from '../svg/words.ts';
import { partGroups, sharesOf } from './parts.ts';

export interface CurveProps {
  readonly curve: ScalingCurve;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /** Tokens per second and GPU at the top of the plot. */
  readonly most: number;
  /** Share of the best below which the knee is passed. */
  readonly threshold: number;
}

const axis = 64;
const plot = { top: 26, height: 190 };
const bars = { top: plot.top + plot.height + 34, height: 96 };
/** Height of a curve with its bars. */
export const curveHeight: number = bars.top + bars.height + 14;

const titles = {
  strong: 'Strong scaling: the batch stays',
  weak: 'Weak scaling: the batch grows with the GPUs',
} as const;

export function Curve({ curve, left, top, width, most, threshold }: CurveProps): VNode {
  const { kind, points, gaps, knee } = curve;
  const sizes = [...points, ...gaps].map(({ gpus }) => gpus).sort((one, other) => one - other);
  const column = (width - axis) / Math.max(1, sizes.length);
  const x = (gpus: number): number => axis + (sizes.indexOf(gpus) + 0.5) * column;
  const y = (value: number): number => plot.top + plot.height * (1 - value / (1.05 * most));
  const best = points.find((point) => point.tokensPerSecondPerGpu === bestOf(points));
  return (
    <g transform={`translate(${at(left)},${at(top)})`}>
      <text x="0" y="10" class="h2">
        {titles[kind]}
      </text>
      <Scale most={most} y={y} width={width} />
      {best && (
        <Level y={y(threshold * best.tokensPerSecondPerGpu)} width={width} words={`${threshold * 100} % of the best`} />
      )}
      {knee && <KneeMark x={(x(knee.gpus) + x(knee.beyond)) / 2} />}
      <polyline
        points={points.map((point) => `${at(x(point.gpus))},${at(y(point.tokensPerSecondPerGpu))}`).join(' ')}
        fill="none"
        stroke={operationColour('forward')}
        stroke-width="2"
      />
      {points.map((point) => (
        <circle
          key={point.gpus}
          cx={at(x(point.gpus))}
          cy={at(y(point.tokensPerSecondPerGpu))}
          r="4"
          fill={operationColour('forward')}
        >
          <title>{`${point.gpus} GPUs: ${point.layout}`}</title>
        </circle>
      ))}
      <text x={axis - 8} y={bars.top + 10} class="small quiet end">
        % of step
      </text>
      {points.map((point) => (
        <Bar key={point.gpus} point={point} x={x(point.gpus)} width={Math.min(34, column - 8)} />
      ))}
      {sizes.map((gpus) => (
        <text key={gpus} x={at(x(gpus))} y={plot.top + plot.height + 18} class="small middle">
          {grouped(gpus)}
        </text>
      ))}
      {gaps.map(({ gpus, why, code }) => (
        <text key={gpus} x={at(x(gpus))} y={plot.top + plot.height - 8} class="small quiet middle">
          {code === 'NOTHING_FITS' ? 'no fit' : 'none'}
          <title>{why}</title>
        </text>
      ))}
      <text x={axis - 8} y={plot.top + plot.height + 18} class="small quiet end">
        GPUs
      </text>
    </g>
  );
}

const bestOf = (points: readonly SweepPoint[]): number =>
  Math.max(...points.map((point) => point.tokensPerSecondPerGpu));

interface ScaleProps {
  readonly most: number;
  readonly y: (value: number) => number;
  readonly width: number;
}

/** Lines at round values from zero up. */
function Scale({ most, y, width }: ScaleProps): VNode {
  const step = roundStep(most / 4);
  const values = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
  return (
    <g>
      {values.map((value) => (
        <g key={value}>
          <line
            x1={axis}
            x2={at(width)}
            y1={at(y(value))}
            y2={at(y(value))}
            stroke={surface('line')}
            stroke-width="0.7"
          />
          <text x={axis - 8} y={at(y(value) + 4)} class="small quiet end">
            {value.toLocaleString('en-US')}
          </text>
        </g>
      ))}
      <text x={at(width)} y="10" class="small quiet end">
        tokens/s/GPU~
      </text>
    </g>
  );
}

/** 1, 2 or 5 times a power of ten, the nearest above. */
function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-9, value)));
  return ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10) * power;
}

function Level({ y, width, words }: { readonly y: number; readonly width: number; readonly words: string }): VNode {
  return (
    <g>
      <line x1={axis} x2={at(width)} y1={at(y)} y2={at(y)} stroke={surface('quiet')} stroke-dasharray="2 4" />
      <text x={axis + 4} y={at(y - 4)} class="small quiet">
        {words}
      </text>
    </g>
  );
}

function KneeMark({ x }: { readonly x: number }): VNode {
  return (
    <g>
      <line
        x1={at(x)}
        x2={at(x)}
        y1={plot.top}
        y2={plot.top + plot.height}
        stroke={surface('alarm')}
        stroke-dasharray="5 4"
      />
      <text x={at(x)} y={plot.top - 4} class="small alarm middle">
        knee
      </text>
    </g>
  );
}

/** Where the step of the slowest GPU goes, from the bottom up; all bars have one height. */
function Bar({ point, x, width }: { readonly point: SweepPoint; readonly x: number; readonly width: number }): VNode {
  let bottom = bars.top + bars.height;
  return (
    <g>
      {sharesOf(point).map((share, index) => {
        const group = partGroups[index];
        const height = share * bars.height;
        bottom -= height;
        if (!group || height < 0.2) return null;
        const box = { x: at(x - width / 2), y: at(bottom), width: at(width), height: at(height) };
        return (
          <g key={group.name}>
            <rect {...box} fill={group.fill} />
            {group.hatch && <rect {...box} fill={group.hatch} />}
            <title>{`${point.gpus} GPUs, ${group.name}: ${(100 * share).toFixed(1)} %`}</title>
          </g>
        );
      })}
      <rect
        x={at(x - width / 2)}
        y={bars.top}
        width={at(width)}
        height={bars.height}
        fill="none"
        stroke={surface('line')}
        stroke-width="0.7"
      />
    </g>
  );
}
