/** @file One axis: who is in a group, over which link, and what a rank sends in a step and why. */
import { bytes, bytesPerSecond, formatBytes, formatRate } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { at, fitText } from '../svg/geometry.ts';
import { axisWords, counted, grouped, rangeOf } from '../svg/words.ts';
import { Arcs, arcsHeight } from './arcs.tsx';
import type { AxisFacts, ExchangeFacts, StepFacts } from './facts.ts';

const row = { height: 21, first: 62 } as const;
const column = { kind: 352, count: 520, bytes: 608, stages: 624, stagesWidth: 64 } as const;

/** Height of the panel of an axis. */
export const axisHeight = (facts: StepFacts, axis: AxisFacts): number =>
  Math.max(arcsHeight(facts, axis) + 44, row.first + axis.exchanges.length * row.height + 12);

interface AxisProps {
  readonly facts: StepFacts;
  readonly axis: AxisFacts;
  readonly width: number;
}

/** The panel of one axis, its corner at the origin. */
export function AxisPanel({ facts, axis, width }: AxisProps): VNode {
  const several = facts.program.lists.length > 1;
  const reasons = several ? column.stages + column.stagesWidth + 16 : column.stages;
  return (
    <g>
      <line x2={width} stroke={surface('line')} />
      <text y="22" class="h2">
        {axisTitle(axis)}
      </text>
      <text x={width} y="22" class={axis.crossing > 0 ? 'end bold' : 'end quiet'}>
        {linkSentence(axis, facts)}
      </text>
      <g transform="translate(0,36)">
        <Arcs facts={facts} axis={axis} />
      </g>
      <g class="small">
        <text x={column.kind} y="46" class="small quiet">
          exchange
        </text>
        <text x={column.count} y="46" class="small quiet end">
          a step
        </text>
        <text x={column.bytes} y="46" class="small quiet end">
          {several ? 'sent, at most' : 'sent by a rank'}
        </text>
        {several && (
          <text x={column.stages} y="46" class="small quiet">
            by stage
          </text>
        )}
        <text x={reasons} y="46" class="small quiet">
          because
        </text>
      </g>
      {axis.exchanges.map((exchange, index) => (
        <ExchangeRow
          key={`${exchange.kind} ${exchange.reason}`}
          exchange={exchange}
          y={row.first + index * row.height}
          reasons={reasons}
          width={width}
          several={several}
        />
      ))}
    </g>
  );
}

interface RowProps {
  readonly exchange: ExchangeFacts;
  readonly y: number;
  readonly reasons: number;
  readonly width: number;
  readonly several: boolean;
}

function ExchangeRow({ exchange, y, reasons, width, several }: RowProps): VNode {
  const { kind, reason } = exchange;
  const most = Math.max(...exchange.bytes);
  const times = Math.max(...exchange.exchanges);
  return (
    <g>
      <rect
        x={column.kind}
        y={y - 1}
        width="9"
        height="9"
        fill={operationColour(kind === 'send' ? 'send' : 'collective')}
      />
      <text x={column.kind + 16} y={y + 8}>
        {kind}
      </text>
      <text x={column.count} y={y + 8} class="end">
        {`\u00d7 ${grouped(times)}`}
      </text>
      <text x={column.bytes} y={y + 8} class="end">
        {formatBytes(bytes(most))}
      </text>
      {several && <StageBars exchange={exchange} most={most} y={y + 9} />}
      <text x={reasons} y={y + 8} class="quiet">
        {fitText(reason, width - reasons)}
      </text>
    </g>
  );
}

/** What each stage sends, beside each other; the highest bar is the number in the column before. */
function StageBars({
  exchange,
  most,
  y,
}: {
  readonly exchange: ExchangeFacts;
  readonly most: number;
  readonly y: number;
}): VNode {
  const step = Math.min(14, column.stagesWidth / exchange.bytes.length);
  const bars = exchange.bytes.map((each, stage) => {
    const height = most === 0 ? 0 : (each / most) * 14;
    return `M${at(column.stages + stage * step)} ${y}h${at(step * 0.8)}v${at(-height)}h${at(-step * 0.8)}z`;
  });
  const said = exchange.bytes.map((each, stage) => `stage ${stage}: ${formatBytes(bytes(each))}`).join(', ');
  return (
    <g>
      <title>{said}</title>
      <path d={bars.join('')} fill={surface('quiet')} />
      <line
        x1={column.stages}
        x2={at(column.stages + (exchange.bytes.length - 0.2) * step)}
        y1={y}
        y2={y}
        stroke={surface('quiet')}
        stroke-width="0.7"
      />
    </g>
  );
}

/** `tensor 2: a rank sends 1.09 KiB a step`. */
export function axisTitle(axis: AxisFacts): string {
  const least = Math.min(...axis.bytes.filter((each) => each > 0));
  const most = Math.max(...axis.bytes);
  const amount = rangeOf(formatBytes(bytes(least)), formatBytes(bytes(most)), 'to');
  const name =
    axis.name === axis.axis ? `${axisWords[axis.axis].axis} ${axis.degree}` : `${axis.name} (first and last stage)`;
  return `${name}: a rank sends ${amount} a step`;
}

/** Whether the groups of an axis stay on the fast links, in one sentence. */
export function linkSentence({ crossing, groups, link }: AxisFacts, { cluster }: StepFacts): string {
  const rate = formatRate(bytesPerSecond(link.bandwidth));
  if (cluster.nodes === 1) return `${counted(groups, 'group')} on one node: ${link.name}, ${rate} a rank`;
  if (crossing === 0) return `${counted(groups, 'group')}, each inside one node: ${link.name}, ${rate} a rank`;
  const which =
    crossing === groups
      ? `all ${counted(groups, 'group')} cross`
      : `${grouped(crossing)} of ${counted(groups, 'group')} cross`;
  return `${groups === 1 ? 'its one group crosses' : which} nodes: ${link.name}, ${rate} a rank`;
}
