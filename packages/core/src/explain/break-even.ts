/** @file Lines where two costs are equal, for this job's model and links. Each formula is derived beside its function from the
 * laws of architecture.md, section 5. F is the rate that a layer of this job reaches, B what its exchange reaches: both
 * come from the prices that layouts are evaluated with, so a line says what the search sees.
 */
import { createPrices, type Prices } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { createMesh } from '../mesh/index.ts';
import { countParameters } from '../model/index.ts';
import { type Evaluator, enoughMicroBatches, priceOptionsOf, thresholds } from '../plan/index.ts';
import { bubbleShare, microBatchesForShare } from '../schedules/index.ts';
import type { Facts } from './facts.ts';
import type { Choice, FlowContext } from './flow/index.ts';
import { trialOfRow } from './table/index.ts';
import { isLegal } from './trials.ts';
import type { BreakEven } from './types.ts';
import { gib, share, time, whole } from './words.ts';

export function breakEvenLines(context: FlowContext, choice: Choice | undefined): readonly BreakEven[] {
  const { trials, facts } = context;
  const sharded = trialOfRow(context, 'ZeRO-3', choice);
  const tensor = trialOfRow(context, 'TP', choice);
  const pipeline = trialOfRow(context, 'PP', choice);
  const units = isLegal(sharded) ? sharded.candidate.layout : facts.plain;
  const layer = mostCommonLayer(trials.bestOf({}).evaluator, units);
  const shown = isLegal(tensor) ? trials.shownOf(tensor) : undefined;
  const stages = isLegal(pipeline) ? trials.shownOf(pipeline).pipeline : undefined;
  const use: LayerUse = {
    tokens: units.microBatch * facts.job.batch.length,
    seconds: layer.computeSeconds,
    rate: layer.productFlops / layer.computeSeconds,
  };
  return [
    ...tensorLines(facts, use, shown?.layout.tensor),
    ...gatherLines(facts, use),
    ...(stages && stages.stages > 1 ? [bubbleLine(stages.stages, stages.microBatches)] : []),
  ];
}

/** The forward of a layer of the kind that the model has most of. */
function mostCommonLayer(evaluator: Evaluator, layout: Layout) {
  const { layers } = evaluator.blocksOf(layout);
  const counts = layers.map(() => 0);
  for (const { runs } of evaluator.rowsOf(layout)) {
    for (const { kind, count } of runs) counts[kind] = (counts[kind] ?? 0) + count;
  }
  const most = layers[counts.indexOf(Math.max(...counts))];
  if (most === undefined) throw new Error('internal: a model without layers passed validation.');
  return most.forward;
}

/** The forward of one layer on one GPU. */
interface LayerUse {
  /** T: tokens of a micro-batch. */
  readonly tokens: number;
  readonly seconds: number;
  /** F: FLOP/s, kernels that wait for memory included. */
  readonly rate: number;
}

/** What a group of one axis reaches. */
interface Reached {
  readonly name: string;
  readonly degree: number;
  readonly seconds: number;
  /** B: bytes sent by a rank over seconds; more than a link's rate where a node's ranks share what comes in. */
  readonly bandwidth: number;
}

/** Tensor exchanges beside compute, forward: two all-reduces of s b h values, of each 2 (t-1)/t w bytes sent a value, beside
 * products of 2 s b P / t FLOPs. The ratio is 2 w (t-1) h F / (P B); with w = 2 and P = 12 h^2 it is (t-1) F / (3 h B).
 * Backward sends the same beside twice the products.
 */
export const tensorRatio = (
  layer: { readonly weight: number; readonly hidden: number; readonly parameters: number },
  tensor: number,
  rate: number,
  bandwidth: number,
): number => (2 * layer.weight * (tensor - 1) * layer.hidden * rate) / (layer.parameters * bandwidth);

function tensorLines(facts: Facts, use: LayerUse, chosen: number | undefined): readonly BreakEven[] {
  const { job, weight } = facts;
  const { hidden } = job.model;
  const parameters = activeLayer(job);
  const isUsual = weight === 2 && Math.abs(parameters / (12 * hidden ** 2) - 1) < 0.01;
  return tensorGroups(facts, use, chosen).map(({ name, degree, bandwidth }): BreakEven => {
    const ratio = tensorRatio({ weight, hidden, parameters }, degree, use.rate, bandwidth);
    const law = isUsual ? '(t-1) F / (3 h B)' : `${2 * weight} (t-1) h F / (P B)`;
    return {
      what: 'tensor ranks that exchange as long as they compute forward',
      symbols: isUsual ? '1 + 3 h B / F' : `1 + P B / (${2 * weight} h F)`,
      value: 1 + (degree - 1) / ratio,
      here: degree,
      unit: 'count',
      link: name,
      says: `at t = ${degree} exchanges take ${law} = ${share(ratio)} of the compute of a forward, and half of that of a backward.`,
    };
  });
}

/** Tensor groups on each link, from the fast one outwards: the degree of the table, a node, two nodes. */
function tensorGroups({ job, gpus, fastRanks, weight }: Facts, use: LayerUse, chosen: number | undefined) {
  const { cluster } = job;
  const options = priceOptionsOf(job);
  const bytes = use.tokens * job.model.hidden * weight;
  const island = Math.max(cluster.gpusPerNode, cluster.intra.gpus);
  const degrees = [chosen ?? Math.min(fastRanks, gpus), cluster.gpusPerNode, 2 * island];
  const found = new Map<string, Reached>();
  for (const degree of degrees) {
    if (degree < 2 || gpus % degree !== 0) continue;
    const prices = createPrices(cluster, createMesh({ tensor: degree, data: gpus / degree }), options);
    const { name } = prices.linkOf(['tensor']);
    const seconds = prices.exchange({ kind: 'all-reduce', algorithm: 'ring', bytes, axes: ['tensor'] });
    const sent = (2 * (degree - 1) * bytes) / degree;
    if (!found.has(name)) found.set(name, { name, degree, seconds, bandwidth: sent / seconds });
  }
  return [...found.values()];
}

/** Parameters of a layer that a token passes through. */
function activeLayer({ model }: Job): number {
  const { active, embedding, head } = countParameters(model);
  return (active - embedding - head) / model.layers.length;
}

/** A layer of P parameters is gathered in (N-1)/N P w / B seconds and used for 2 P T / F forward (P_active of it, where
 * experts are). The gather hides when T >= (N-1)/N w F / (2 B). Backward moves w + g bytes beside 4 P T: the same line
 * when g = w. Read for the network, whose ranks of a node bring in one copy together, it is the rate that ZeRO-3 needs.
 */
function gatherLines(facts: Facts, use: LayerUse): readonly BreakEven[] {
  const { gpus, weight, job } = facts;
  if (gpus === 1) return [];
  const bytes = facts.layerParameters * weight;
  const { name, seconds, bandwidth, crossesNode } = gatherOf(job, gpus, bytes);
  const tokens = ((((gpus - 1) / gpus) * bytes) / activeLayer(job)) * (use.rate / (2 * bandwidth));
  const hides = use.tokens >= tokens;
  return [
    {
      what: 'tokens of a micro-batch that hide a forward gather of ZeRO-3',
      symbols: '(N-1)/N w F / (2 B)',
      value: tokens,
      here: use.tokens,
      unit: 'tokens',
      link: name,
      says: `a layer is gathered in ${time(seconds)} and used for ${time(use.seconds)} forward: gathered ahead, ${whole(use.tokens)} tokens ${hides ? 'hide' : 'do not hide'} it, ${whole(Math.ceil(tokens))} ${hides ? 'would do' : 'are needed'}.`,
    },
    ...gradientLine(facts, use),
    ...(crossesNode ? networkLine(facts, use, bytes) : []),
    ...treeLine(facts),
  ];
}

/** The all-reduce of the gradients of P parameters takes 2 (N-1)/N P g / B and starts when their backward of 4 P T / F has
 * begun: it hides behind the backward of the layer before when T >= (N-1)/N g F / (2 B). Only the last micro-batch counts.
 */
function gradientLine({ gpus, gradient, job, layerParameters }: Facts, use: LayerUse): readonly BreakEven[] {
  const bytes = layerParameters * gradient;
  const prices = createPrices(job.cluster, createMesh({ data: gpus }), priceOptionsOf(job));
  const seconds = prices.exchange({ kind: 'all-reduce', algorithm: 'ring', bytes, axes: ['data'] });
  const bandwidth = (2 * ((gpus - 1) / gpus) * bytes) / seconds;
  const tokens = ((((gpus - 1) / gpus) * bytes) / activeLayer(job)) * (use.rate / (2 * bandwidth));
  const hides = use.tokens >= tokens;
  return [
    {
      what: 'tokens of the last micro-batch whose backward hides the all-reduce of its gradients',
      symbols: '(N-1)/N g F / (2 B)',
      value: tokens,
      here: use.tokens,
      unit: 'tokens',
      link: prices.linkOf(['data']).name,
      says: `the gradients of a layer (${gib(bytes)}) are summed in ${time(seconds)}, its backward takes ${time(2 * use.seconds)}: ${whole(use.tokens)} tokens ${hides ? 'hide' : 'do not hide'} it.`,
    },
  ];
}

/** Between n nodes a ring takes 2 (n-1) (a + S / (n B)), a double tree 2 log2(n) a + 2 S / B: they are equal at
 * S = n (n - 1 - log2 n) a B, the tree is faster below. S is what one rank of a node carries of a bucket.
 */
function treeLine({ gpus, job, plain, gradient }: Facts): readonly BreakEven[] {
  const { cluster } = job;
  const prices = createPrices(cluster, createMesh({ data: gpus }), priceOptionsOf(job));
  const { islands, bandwidth, name, ranks } = prices.linkOf(['data']);
  if (islands <= 2) return [];
  const equal = islands * (islands - 1 - Math.log2(islands)) * cluster.inter.latency.value * bandwidth;
  const here = (plain.bucketMB * 1e6 * islands) / ranks;
  const faster = here < equal ? 'tree' : 'ring';
  return [
    {
      what: 'bytes of a rank below which a tree over the nodes is faster than a ring',
      symbols: 'n (n - 1 - log2 n) a B',
      value: equal,
      here,
      unit: 'bytes',
      link: name,
      says: `a bucket of ${plain.bucketMB} MB (${whole((plain.bucketMB * 1e6) / gradient)} gradients) leaves ${gib(here)} for each rank between ${islands} nodes: the ${faster} is faster; with ${gib(equal)} they are equal.`,
    },
  ];
}

function gatherOf(job: Job, gpus: number, bytes: number): Reached & { readonly crossesNode: boolean } {
  const prices = createPrices(job.cluster, createMesh({ data: gpus }), priceOptionsOf(job));
  const { name, crossesNode } = prices.linkOf(['data']);
  const seconds = gatherSeconds(prices, bytes);
  return { name, crossesNode, degree: gpus, seconds, bandwidth: ((gpus - 1) * bytes) / gpus / seconds };
}

const gatherSeconds = (prices: Prices, bytes: number): number =>
  prices.exchange({ kind: 'all-gather', algorithm: 'ring', bytes, axes: ['data'] });

/** The slowest network under which the gather of a layer takes no longer than its use; none where even the fastest is
 * too slow, because the links inside the node are.
 */
function networkLine({ job, gpus }: Facts, use: LayerUse, bytes: number): readonly BreakEven[] {
  const { cluster } = job;
  const { rate, gpusPerNic } = cluster.inter;
  const [mesh, options] = [createMesh({ data: gpus }), priceOptionsOf(job)];
  const hides = (value: number): boolean => {
    const inter = { ...cluster.inter, rate: { ...rate, value } };
    return gatherSeconds(createPrices({ ...cluster, inter }, mesh, options), bytes) <= use.seconds;
  };
  let [low, high] = [0, 1e15];
  if (!hides(high)) return [];
  for (let round = 0; round < 60; round++) {
    const middle = low === 0 ? high / 1e3 : Math.sqrt(low * high);
    if (hides(middle)) high = middle;
    else low = middle;
  }
  const needed = high / gpusPerNic;
  const here = rate.value / gpusPerNic;
  const shown = (value: number): string => `${(value / 1e9).toFixed(1)} GB/s`;
  return [
    {
      what: 'NIC rate of a GPU that hides the gathers of ZeRO-3',
      symbols: '(N-1)/N w F / (2 k T)',
      value: needed,
      here,
      unit: 'bytesPerSecond',
      link: cluster.inter.name,
      says: `with ${whole(use.tokens)} tokens for each gather, and the k = ${Math.min(cluster.gpusPerNode, gpus)} GPUs of a node bringing in one copy together, a NIC of ${shown(needed)} for each GPU is enough; it is ${shown(here)}.`,
    },
  ];
}

/** (p-1)/(m+p-1) = 10 % at m = 9 (p-1). The usual m = 4 p leaves (p-1)/(5p-1), up to a fifth. */
function bubbleLine(stages: number, microBatches: number): BreakEven {
  const bubble = (count: number): string =>
    share(bubbleShare({ schedule: '1f1b', stages, chunks: 1, microBatches: count }));
  return {
    what: `micro-batches for a bubble of 10 %, p = ${stages}`,
    symbols: '9 (p-1)',
    value: microBatchesForShare(stages, 1, thresholds.bubbleShare),
    here: microBatches,
    unit: 'count',
    says: `${whole(microBatches)} micro-batches leave ${bubble(microBatches)}; m = 4 p = ${whole(enoughMicroBatches(stages))} would leave ${bubble(enoughMicroBatches(stages))}.`,
  };
}
