/** @file The step-through figure at one moment: the GPUs with what they hold, who sends to whom, whether that crosses the
 * slower link, and the schedule below where there are stages.
 */
import { bytes, formatBytes } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, fitText, wrapText } from '../svg/geometry.ts';
import { counted } from '../svg/words.ts';
import { Arrows } from './arrows.tsx';
import { StepGpu } from './gpu.tsx';
import { boxOf, type Places, placesOf } from './places.ts';
import { ScheduleStrip, scheduleHeight } from './schedule-strip.tsx';
import type { StepScript } from './script.ts';
import { type Detail, type Moment, momentOf } from './state.ts';
import { style } from './style.ts';

/** What the figure is drawn from. */
export interface StepsProps {
  readonly script: StepScript;
  /** 0 is before the first step. */
  readonly frame: number;
  readonly detail?: Detail;
  /** `narrow` is made for a phone. */
  readonly size?: 'wide' | 'narrow';
}

/** One moment of the step. */
export function Steps({ script, frame, detail = 'collectives', size = 'wide' }: StepsProps): VNode {
  const moment = momentOf(script, frame, detail);
  const places = placesOf(script, size);
  const stage = stageHeight(script, moment, places);
  return (
    <Frame
      width={places.width}
      height={at(38 + stage + legendHeight(places))}
      title={titleOf(script)}
      description={describe(script, moment)}
    >
      <style>{style}</style>
      <Title script={script} places={places} />
      <g transform="translate(0,38)">
        <Stage script={script} moment={moment} places={places} />
      </g>
      <Legend places={places} y={38 + stage} />
    </Frame>
  );
}

/** The whole step at once, for print: for each phase the moment in which most travels. */
export function StepsStill({ script, size = 'wide' }: Pick<StepsProps, 'script' | 'size'>): VNode {
  const places = placesOf(script, size);
  const moments = stillFrames(script).map((frame) => momentOf(script, frame));
  const tops: number[] = [];
  let y = 38;
  for (const moment of moments) {
    tops.push(y);
    y += stageHeight(script, moment, places) + 20;
  }
  const words = moments.map((moment) => describe(script, moment)).join(' ');
  return (
    <Frame width={places.width} height={at(y + legendHeight(places))} title={titleOf(script)} description={words}>
      <style>{style}</style>
      <Title script={script} places={places} />
      {moments.map((moment, index) => (
        <g key={moment.frame} transform={`translate(0,${at(tops[index] ?? 0)})`}>
          <Stage script={script} moment={moment} places={places} />
        </g>
      ))}
      <Legend places={places} y={y} />
    </Frame>
  );
}

interface StageProps {
  readonly script: StepScript;
  readonly moment: Moment;
  readonly places: Places;
}

/** Caption, GPUs and schedule of one moment, the corner at the origin. */
function Stage({ script, moment, places }: StageProps): VNode {
  const lines = captionLines(moment, places);
  const top = 24 + lines.length * 17;
  return (
    <g>
      <text x={places.margin} y="16" class="h2">
        {`${moment.head} (${moment.frame} of ${moment.frames})`}
      </text>
      {lines.map((line, index) => (
        <text key={line} x={places.margin} y={35 + index * 17}>
          {line}
        </text>
      ))}
      <g transform={`translate(0,${top})`}>
        <Nodes script={script} places={places} />
        <Between script={script} moment={moment} places={places} />
        <Arrows key={`${moment.frame}`} moment={moment} places={places} />
        {moment.gpus.map((gpu) => (
          <StepGpu key={gpu.rank} script={script} gpu={gpu} box={boxOf(places, gpu.rank)} />
        ))}
      </g>
      {script.schedule && (
        <g transform={`translate(${places.margin},${at(top + places.height + 14)})`}>
          <ScheduleStrip script={script} moment={moment} width={places.width - 2 * places.margin} />
        </g>
      )}
    </g>
  );
}

const stageHeight = (script: StepScript, moment: Moment, places: Places): number =>
  24 +
  captionLines(moment, places).length * 17 +
  places.height +
  (script.schedule ? 14 + scheduleHeight(script, script.schedule, places.width - 2 * places.margin) : 0);

const Title = ({ script, places }: { readonly script: StepScript; readonly places: Places }): VNode => (
  <text x={places.margin} y="28" class="h1">
    {places.width > 600
      ? titleOf(script)
      : fitText(`${script.name}: ${script.layout}`, places.width - 2 * places.margin, 19)}
  </text>
);

const legendLines = (places: Places): readonly string[] =>
  wrapText(
    "W weights, G gradients, O optimizer state: one cell for each shown GPU's piece of the model, filled as far as it is held. " +
      'A activations: one cell for each eighth of the layers, with the micro-batches that it holds. ' +
      'Hatched: older than the update, or not yet summed. Dashed: memory that is taken and empty.',
    places.width - 2 * places.margin,
    11,
  );

const legendHeight = (places: Places): number => 18 + legendLines(places).length * 15;

const Legend = ({ places, y }: { readonly places: Places; readonly y: number }): VNode => (
  <g>
    {legendLines(places).map((line, index) => (
      <text key={line} x={places.margin} y={at(y + 20 + index * 15)} class="small quiet">
        {line}
      </text>
    ))}
  </g>
);

/** Of each phase the frame with the most bytes on the links; the last one of a phase in which nothing travels. */
export function stillFrames({ steps }: StepScript): readonly number[] {
  const best = new Map<string, { readonly frame: number; readonly bytes: number }>();
  steps.forEach(({ phase, links }, index) => {
    const bytes = links.reduce((sum, link) => sum + link.bytes, 0);
    const known = best.get(phase);
    if (!known || bytes >= known.bytes) best.set(phase, { frame: index + 1, bytes });
  });
  return [...best.values()].map(({ frame }) => frame);
}

const captionLines = ({ sentence, traffic }: Moment, { width, margin }: Places): readonly string[] => {
  const lines = [
    ...wrapText(sentence, width - 2 * margin),
    ...(traffic === '' ? [] : wrapText(traffic, width - 2 * margin)),
  ];
  // As many as most steps need, so that the GPUs do not move from step to step.
  const usual = width > 600 ? 3 : 7;
  return lines.length >= usual
    ? lines
    : [...lines, ...Array.from({ length: usual - lines.length }, (_, index) => ' '.repeat(index))];
};

function Nodes({ script, places }: { readonly script: StepScript; readonly places: Places }): VNode {
  const { gpusPerNode, world } = script;
  return (
    <g>
      {places.nodes.map(({ node, x, y, width, height, shown }) => {
        const all = Math.min(gpusPerNode, world - node * gpusPerNode);
        return (
          <g key={node} transform={`translate(${at(x)},${at(y)})`}>
            <rect width={at(width)} height={at(height)} rx="6" fill={surface('panel')} />
            <text x="14" y="19">
              {`node ${node}${shown < all ? `: ${shown} of ${counted(all, 'GPU')}` : ''}`}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface BetweenProps {
  readonly script: StepScript;
  readonly moment: Moment;
  readonly places: Places;
}

/** The slower link between the nodes: filled while a step crosses it. */
function Between({ script, moment, places }: BetweenProps): VNode | null {
  const { between } = places;
  if (!between) return null;
  const crossing = moment.links.filter(({ crosses }) => crosses).length;
  const crossed = crossing > 0;
  const fill = crossed ? 'fill:var(--mw-background)' : undefined;
  const middle = at(between.x + between.width / 2);
  const lines = crossed
    ? [script.links.between, `crossed by ${counted(crossing, 'link')}`]
    : [script.links.between, moment.step && moment.links.length > 0 ? 'not crossed' : 'idle'];
  const shown =
    between.width > 140 ? [lines.join(': ')] : lines.flatMap((line) => wrapText(line, between.width - 10, 11));
  const first = places.width > 600 ? between.y + 22 : between.y + between.height / 2 - (shown.length - 1) * 7 + 4;
  return (
    <g>
      <rect
        x={at(between.x)}
        y={at(between.y)}
        width={at(between.width)}
        height={at(between.height)}
        rx="3"
        fill={crossed ? surface('text') : surface('background')}
        stroke={crossed ? 'none' : surface('line')}
        stroke-dasharray={crossed ? undefined : '4 3'}
      />
      {shown.map((line, index) => (
        <text key={line} x={middle} y={at(first + index * 14)} class="small middle" style={fill}>
          {line}
        </text>
      ))}
    </g>
  );
}

const titleOf = ({ name, world, layout }: StepScript): string => `${name} on ${counted(world, 'GPU')}: ${layout}`;

/** The moment in sentences. */
function describe(script: StepScript, moment: Moment): string {
  const gpus = moment.gpus.map(({ rank, shelves, totalBytes, doing }) => {
    const held = shelves.map(({ name, bytes: size }) => `${name} ${formatBytes(bytes(size))}`).join(', ');
    return `GPU ${rank} holds ${held}, ${formatBytes(bytes(totalBytes))} in all; ${doing}.`;
  });
  return [
    `${moment.head}. ${moment.sentence} ${moment.traffic}`,
    ...gpus,
    `Capacity ${formatBytes(bytes(script.capacityBytes))}.`,
  ].join(' ');
}
