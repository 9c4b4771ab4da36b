/** @file The figure of exchanges: what each GPU stores, and what one step moves over which links. */
import type { ClusterSpec } from '@meshwright/core/cluster';
import type { Program } from '@meshwright/core/program';
import { bytes, formatBytes } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { type MemoryRole, memoryColour, surface } from '../palette/index.ts';
import { Frame } from '../svg/frame.tsx';
import { at, textWidth, wrapText } from '../svg/geometry.ts';
import { counted, grouped, layoutWords } from '../svg/words.ts';
import { AxisPanel, axisHeight, axisTitle, linkSentence } from './axis.tsx';
import { type AxisFacts, type GpuFacts, type StepFacts, stepFacts } from './facts.ts';
import { GPU_HEIGHT, Gpu } from './gpu.tsx';

/** What the figure is drawn from. */
export interface ExchangesProps {
  readonly program: Program;
  readonly cluster: ClusterSpec;
}

const margin = 24;
const width = 1060;
const inner = width - 2 * margin;
const nodePad = 14;
const gap = 12;
const head = 112;
const ABREAST = 4;

/** Eight GPUs (or all, when there are fewer): their shelves, then the exchanges of a step axis by axis. */
export function Exchanges({ program, cluster }: ExchangesProps): VNode {
  const facts = stepFacts(program, cluster);
  const nodes = placeNodes(facts.gpus);
  const strip = head + nodes.height;
  const tops: number[] = [];
  let y = strip + 44;
  for (const axis of facts.axes) {
    tops.push(y);
    y += axisHeight(facts, axis);
  }
  return (
    <Frame width={width} height={at(y + 12)} title={titleOf(facts)} description={describe(facts)}>
      <Head facts={facts} />
      {nodes.boxes.map((box) => (
        <Node key={box.node} facts={facts} box={box} gpuWidth={nodes.gpuWidth} />
      ))}
      <Strip facts={facts} y={strip} />
      {facts.axes.map((axis, index) => (
        <g key={axis.name} transform={`translate(${margin},${at(tops[index] ?? 0)})`}>
          <AxisPanel facts={facts} axis={axis} width={inner} />
        </g>
      ))}
    </Frame>
  );
}

const legend: readonly (readonly [MemoryRole, string])[] = [
  ['weights', 'W weights'],
  ['gradients', 'G gradients'],
  ['optimizer', 'O optimizer'],
  ['activations', 'A activations'],
  ['buffers', 'logits and buffers'],
];

function Head({ facts }: { readonly facts: StepFacts }): VNode {
  const lines = wrapText(explain(facts), inner);
  let x = margin;
  return (
    <g>
      <text x={margin} y="34" class="h1">
        {titleOf(facts)}
      </text>
      {lines.map((line, index) => (
        <text key={line} x={margin} y={54 + index * 16} class="quiet">
          {line}
        </text>
      ))}
      {legend.map(([role, words]) => {
        const left = x;
        x += 16 + textWidth(words) + 18;
        return (
          <g key={role} transform={`translate(${at(left)},90)`}>
            <rect width="10" height="10" fill={memoryColour(role)} />
            <text x="16" y="9">
              {words}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface NodeBox {
  readonly node: number;
  readonly gpus: readonly GpuFacts[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface NodePlaces {
  readonly boxes: readonly NodeBox[];
  readonly height: number;
  /** Of the box of one GPU. */
  readonly gpuWidth: number;
}

/** Nodes from left to right and down, four GPUs abreast. */
function placeNodes(gpus: readonly GpuFacts[]): NodePlaces {
  const held = [...new Set(gpus.map(({ node }) => node))].map((node) => gpus.filter((each) => each.node === node));
  const most = Math.max(...held.map((each) => Math.min(ABREAST, each.length)));
  const beside = Math.floor(ABREAST / most);
  const gpuWidth = (inner - (beside - 1) * gap - beside * (2 * nodePad + (most - 1) * gap)) / (beside * most);
  const boxes: NodeBox[] = [];
  let [x, y, below] = [margin, head, 0];
  for (const each of held) {
    const columns = Math.min(ABREAST, each.length);
    const rows = Math.ceil(each.length / ABREAST);
    const boxWidth = columns * gpuWidth + (columns - 1) * gap + 2 * nodePad;
    const height = rows * GPU_HEIGHT + (rows - 1) * gap + 30 + nodePad;
    if (x > margin && x + boxWidth > margin + inner + 1) {
      x = margin;
      y += below + gap;
      below = 0;
    }
    boxes.push({ node: each[0]?.node ?? 0, gpus: each, x, y, width: boxWidth, height });
    x += boxWidth + gap;
    below = Math.max(below, height);
  }
  return { boxes, height: y + below - head, gpuWidth };
}

interface NodeProps {
  readonly facts: StepFacts;
  readonly box: NodeBox;
  readonly gpuWidth: number;
}

function Node({ facts, box, gpuWidth }: NodeProps): VNode {
  const { gpusPerNode } = facts.cluster;
  const all = Math.min(gpusPerNode, facts.world - box.node * gpusPerNode);
  const shown = box.gpus.length === all ? counted(all, 'GPU') : `${box.gpus.length} of ${all} GPUs shown`;
  return (
    <g transform={`translate(${at(box.x)},${at(box.y)})`}>
      <rect width={at(box.width)} height={box.height} rx="6" fill={surface('panel')} />
      <text x={nodePad} y="20">
        {`node ${box.node}`}
      </text>
      <text x={nodePad + 58} y="20" class="quiet">
        {shown}
      </text>
      {box.gpus.map((gpu, index) => (
        <Gpu
          key={gpu.rank}
          facts={facts}
          gpu={gpu}
          x={nodePad + (index % ABREAST) * (gpuWidth + gap)}
          y={30 + Math.floor(index / ABREAST) * (GPU_HEIGHT + gap)}
          width={gpuWidth}
        />
      ))}
    </g>
  );
}

/** The slower link between the nodes: filled when a step crosses it, empty when none does. */
function Strip({ facts, y }: { readonly facts: StepFacts; readonly y: number }): VNode {
  const crossed = facts.axes.some((axis) => axis.crossing > 0);
  return (
    <g transform={`translate(${margin},${at(y + 8)})`}>
      <rect
        width={inner}
        height="22"
        rx="3"
        fill={crossed ? surface('text') : 'none'}
        stroke={crossed ? 'none' : surface('line')}
        stroke-dasharray={crossed ? undefined : '4 3'}
      />
      <text x={inner / 2} y="15" class="middle" style={crossed ? 'fill:var(--mw-background)' : undefined}>
        {stripSentence(facts)}
      </text>
    </g>
  );
}

function stripSentence({ axes, cluster }: StepFacts): string {
  if (cluster.nodes === 1) return `One node: no exchange of this step leaves ${cluster.intra.name}.`;
  const crossing = axes.filter((axis) => axis.crossing > 0);
  const link = `Between the nodes (${cluster.inter.name})`;
  if (crossing.length === 0) return `${link}: no exchange of this step crosses.`;
  return `${link}: crossed by ${crossing.map(crossingWords).join(', ')}.`;
}

const crossingWords = (axis: AxisFacts): string =>
  `${axis.name} (${formatBytes(bytes(Math.max(...axis.bytes)))} a rank and step)`;

const titleOf = (facts: StepFacts): string =>
  `One step of ${facts.program.name} on ${counted(facts.world, 'GPU')}: ${layoutWords(facts.program.mesh)}`;

function explain({ gpus, world, sent }: StepFacts): string {
  const shown =
    gpus.length < world ? `${gpus.length} of ${grouped(world)} GPUs are shown (dashed arcs pass over others). ` : '';
  const total = formatBytes(bytes(sent.totalBytes));
  return (
    `${shown}Each map is the model: its blocks from left to right, its tensor slices from top to bottom (for activations: ` +
    `its micro-batches in flight). Filled is what a GPU holds at its peak. All GPUs together send ${total} a step.`
  );
}

/** The figure in sentences. */
function describe(facts: StepFacts): string {
  const gpus = facts.gpus.map(({ rank, node, shelves }) => {
    const held = shelves.map(({ role, bytes: size }) => `${role} ${formatBytes(bytes(size))}`).join(', ');
    return `GPU ${rank} on node ${node} holds ${held}.`;
  });
  const axes = facts.axes.map((axis) => `${axisTitle(axis)}; ${linkSentence(axis, facts)}.`);
  return [...gpus, stripSentence(facts), ...axes].join(' ');
}
