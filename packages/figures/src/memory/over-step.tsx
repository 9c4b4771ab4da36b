/** @file Memory of one stage over a step: what is held throughout, what comes and goes above it, and the peak. */
import { bytes, formatBytes, formatShare } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { memoryColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, wrapText } from '../svg/geometry.ts';
import type { StageMemory } from './facts.ts';

/** What the figure is drawn from. */
export interface MemoryOverProps {
  readonly stage: StageMemory;
  /** Pixels; 960 when absent. */
  readonly width?: number;
}

const [height, top] = [160, 24] as const;
const size = (value: number): string => formatBytes(bytes(value));

export function MemoryOver({ stage, width = 960 }: MemoryOverProps): VNode {
  const { over, peakAt, peakBytes, residentBytes } = stage;
  const y = (value: number): number => at(top + height - (value / (peakBytes * 1.08)) * height);
  const points = Array.from(
    over,
    (value, index) => `${at((index / Math.max(1, over.length - 1)) * width)},${y(value)}`,
  );
  const peakX = at(peakAt * width);
  const beforePeak = peakAt > 0.7;
  const below = wrapText(
    `throughout: ${size(residentBytes)}; above it what comes and goes, in the order of the program`,
    width - 8,
  );
  return (
    <Frame
      width={width}
      height={top + height + 6 + below.length * 16}
      title={`Memory of stage ${stage.stage} over the step`}
      description={`${size(residentBytes)} throughout, ${size(peakBytes)} at the peak, ${formatShare(peakAt)} through the step, when the GPU ${stage.peakWhy}.`}
    >
      <path d={`M0,${top + height}L${points.join('L')}L${width},${top + height}z`} fill={memoryColour('activations')} />
      <rect
        y={y(residentBytes)}
        width={width}
        height={at(top + height - y(residentBytes))}
        fill={memoryColour('weights')}
      />
      <line x1={peakX} x2={peakX} y1={top - 4} y2={top + height} stroke={surface('text')} stroke-dasharray="4 3" />
      <text x={beforePeak ? peakX - 6 : peakX + 6} y="14" class={beforePeak ? 'end' : undefined}>
        {`peak ${size(peakBytes)}`}
      </text>
      {below.map((line, index) => (
        <text key={line} x="4" y={top + height + 16 * (index + 1)} class="quiet">
          {line}
        </text>
      ))}
    </Frame>
  );
}
