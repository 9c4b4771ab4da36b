/** @file The only place where rules become words. A rule reads "<what it does>, because <reason>": {@link renderWhy}
 * writes the sentence, {@link renderReason} the reason alone, for the margin of a line that shows what it does.
 */
import type { Operation, Why, WhyRule } from './types.ts';

/** Where an operation stands; what is left out is left out of the sentence. */
export interface WhyContext {
  readonly operation?: Operation;
  /** Block: -1 is the embedding, `layers` the head. */
  readonly block?: number;
  readonly layers?: number;
  readonly microBatch?: number;
}

interface Words {
  readonly does: (subject: Subject) => string;
  readonly because: (subject: Subject) => string;
}

/** The pieces that sentences are made of. */
interface Subject {
  /** "layer 3's normed input", "the sequence shards". */
  readonly thing: string;
  readonly axis: string;
  /** "bucket b0", or "its buckets". */
  readonly bucket: string;
  readonly operation: Operation | undefined;
}

/** One clear sentence without a full stop: what an operation does, where, and because of what. */
export function renderWhy(why: Why, context: WhyContext = {}): string {
  const subject = subjectOf(why, context);
  const { does, because } = words[why.rule];
  const when = context.microBatch === undefined ? '' : ` (micro-batch ${context.microBatch})`;
  return `${does(subject)}${when}, because ${because(subject)}`;
}

/** The reason alone: "the next product needs the whole sequence". */
export const renderReason = (why: Why, context: WhyContext = {}): string =>
  words[why.rule].because(subjectOf(why, context));

const words: Readonly<Record<WhyRule, Words>> = {
  model: {
    does: ({ thing }) => `computes ${thing}`,
    because: () => 'the model is made so',
  },
  'gather-sequence': {
    does: ({ thing, axis }) => `gathers the sequence shards of ${thing} over ${axis}`,
    because: () => 'the next product needs the whole sequence',
  },
  'gather-again': {
    does: ({ thing, axis }) => `gathers the sequence shards of ${thing} over ${axis} once more`,
    because: () => 'forward did not keep what it gathered',
  },
  'sum-partial': {
    does: ({ thing, axis }) => `sums ${thing} over ${axis}`,
    because: () => 'each rank added up only its own slice',
  },
  'scatter-partial': {
    does: ({ thing, axis }) => `sums ${thing} over ${axis} and leaves each rank its piece of the sequence`,
    because: () => 'each rank added up only its own slice',
  },
  'vocabulary-parallel': {
    does: ({ thing, axis }) => `reduces ${thing} over ${axis}`,
    because: () => 'each rank has only its part of the vocabulary',
  },
  recompute: {
    does: ({ thing }) => `computes ${thing} again`,
    because: () => 'forward did not keep it',
  },
  'next-stage': { does: (subject) => exchange(subject), because: (subject) => neighbour(subject, 'next') },
  'previous-stage': { does: (subject) => exchange(subject), because: (subject) => neighbour(subject, 'before') },
  'gather-updated': {
    does: ({ bucket, axis }) => `gathers the updated weights of ${bucket} over ${axis}`,
    because: () => 'each rank updated only its own shard',
  },
  'gather-unit': {
    does: ({ bucket, axis }) => `gathers the weights of ${bucket} over ${axis}`,
    because: () => 'each rank keeps only its own shard',
  },
  'pass-keys': {
    does: ({ thing, axis }) => `hands ${thing} on around ${axis}`,
    because: () => 'its queries meet the keys and values of all',
  },
  'pass-key-gradients': {
    does: ({ thing, axis }) => `hands ${thing} on around ${axis}`,
    because: () => 'every rank adds its part on their way home',
  },
  'gather-keys': {
    does: ({ thing, axis }) => `gathers ${thing} over ${axis}`,
    because: () => 'its queries meet the keys and values of all',
  },
  'scatter-key-gradients': {
    does: ({ thing, axis }) => `sums ${thing} over ${axis} and leaves each rank those of its own tokens`,
    because: () => 'all queries have met them',
  },
  'heads-for-tokens': {
    does: ({ thing, axis }) => `swaps heads for tokens of ${thing} over ${axis}`,
    because: () => 'attention needs the whole sequence of a head',
  },
  'reduce-gradient': {
    does: ({ bucket, axis, operation }) =>
      `sums the gradients of ${bucket} over ${axis}${scatters(operation) ? ' and leaves each rank its shard' : ''}`,
    because: () => 'each replica saw other sequences',
  },
  'sum-sets': {
    does: ({ bucket, axis }) => `sums the shard of the gradients of ${bucket} over ${axis}`,
    because: () => 'each set of shards saw other sequences',
  },
  'copy-out': {
    does: ({ bucket }) => `copies the gradients of ${bucket} to host memory`,
    because: () => "the optimizer's state lies there",
  },
  'copy-in': {
    does: ({ bucket }) => `copies the new weights of ${bucket} to the device`,
    because: () => 'the host has updated them',
  },
  'sum-whole-parameters': {
    does: ({ bucket, axis }) => `sums the gradients of the whole parameters of ${bucket} over ${axis}`,
    because: () => 'each rank saw only its piece of the sequence',
  },
  'count-rows': {
    does: ({ thing, axis }) => `tells all ranks over ${axis} ${thing}`,
    because: () => 'its experts must know how many tokens come',
  },
  'dispatch-rows': {
    does: ({ thing, axis }) => `sends each row of ${thing} over ${axis} to the rank of its expert`,
    because: () => 'each rank has some of the experts',
  },
  'return-rows': {
    does: ({ thing, axis }) => `sends each row of ${thing} over ${axis} back to the rank of its token`,
    because: () => 'what follows needs tokens where they came from',
  },
  'gather-expert': {
    does: ({ thing, axis }) => `gathers the rows of ${thing} over ${axis}`,
    because: () => 'each rank has a slice of the same experts',
  },
  'scatter-expert': {
    does: ({ thing, axis }) => `sums ${thing} over ${axis} and leaves each rank its rows`,
    because: () => 'each rank added up only its slice of the experts',
  },
  'sum-tied': {
    does: ({ bucket, axis }) => `sums the gradients of ${bucket} over ${axis}`,
    because: () => 'first and last stage hold the same matrix',
  },
  'sum-copies': {
    does: ({ bucket, axis }) => `sums the gradients of ${bucket} over ${axis}`,
    because: () => 'two stages hold the same layers',
  },
  'global-norm': {
    does: ({ operation, axis }) =>
      operation?.kind === 'collective'
        ? `adds up the squared norm over ${axis}`
        : 'works out the norm and the clipping',
    because: () => 'clipping needs the norm of all gradients',
  },
  optimizer: {
    does: () => "updates the weights and the optimizer's state",
    because: () => 'all gradients of the step are in',
  },
  'mean-loss': {
    does: ({ axis }) => `adds up the loss over ${axis}`,
    because: () => 'each replica has the loss of its own sequences',
  },
  lifetime: {
    does: ({ operation, thing }) => `${operation?.kind === 'free' ? 'gives back' : 'takes'} the memory of ${thing}`,
    because: ({ operation }) =>
      operation?.kind === 'free' ? 'its last reader is done' : 'its first writer comes next',
  },
};

const scatters = (operation: Operation | undefined): boolean =>
  operation?.kind === 'collective' && operation.collective === 'reduce-scatter';

function exchange({ operation, thing }: Subject): string {
  if (operation?.kind === 'send') return `sends ${thing} to stage ${operation.peer}`;
  if (operation?.kind === 'recv') return `receives ${thing} from stage ${operation.peer}`;
  return `moves ${thing} between stages`;
}

/** Why another stage: activations come from the layers before and go to the next ones; gradients the other way. */
function neighbour({ operation }: Subject, fallback: 'next' | 'before'): string {
  const forth = operation?.lane === 'act.out' || operation?.lane === 'grad.in';
  const known = operation?.kind === 'send' || operation?.kind === 'recv';
  const next = known ? forth : fallback === 'next';
  return next ? 'the next layers are there' : 'the layers before are there';
}

function subjectOf(why: Why, { operation, block, layers }: WhyContext): Subject {
  const name = nameOfSubject(operation);
  const thing = name === undefined ? 'its operands' : phrase(name, block, layers);
  return {
    thing,
    axis: why.axis ?? (operation?.kind === 'collective' ? operation.axis : 'its group'),
    bucket: why.bucket === undefined ? 'its buckets' : `bucket ${why.bucket}`,
    operation,
  };
}

/** What an operation is about: what it reads, where it only moves or reduces that; what it writes otherwise. */
function nameOfSubject(operation: Operation | undefined): string | undefined {
  if (operation === undefined) return undefined;
  const [read] = operation.reads;
  const [write] = operation.writes;
  return operation.kind === 'compute' ? write?.buffer : (read ?? write?.buffer);
}

function phrase(name: string, block: number | undefined, layers: number | undefined): string {
  if (block === undefined) return boundaryPhrase(name, layers) ?? name;
  const owner = block < 0 ? "the embedding's" : block === layers ? "the head's" : `layer ${block}'s`;
  return `${owner} ${Object.hasOwn(plainNames, name) ? plainNames[name] : name}`;
}

/** What travels between stages, `x3[0]`: the input of the first block behind the boundary, or its gradient. */
function boundaryPhrase(name: string, layers: number | undefined): string | undefined {
  const [, gradient, block, microBatch] = /^(d?)x(\d+)\[(\d+)\]$/.exec(name) ?? [];
  if (block === undefined) return undefined;
  const owner = Number(block) === layers ? "the head's" : `layer ${block}'s`;
  return `${owner} input${gradient ? ' gradient' : ''} (micro-batch ${microBatch})`;
}

/** What the buffers of our templates are called in prose. */
const plainNames: Readonly<Record<string, string>> = {
  x: 'input',
  y: 'output',
  n1: 'normed input',
  a: 'attention output',
  r: 'residual after attention',
  n2: 'normed feed-forward input',
  c: 'feed-forward output',
  dx: 'input gradient',
  dy: 'output gradient',
  dr: 'gradient after attention',
  dn1g: 'gradient of the normed input',
  dn2g: 'gradient of the normed feed-forward input',
  e: 'embedded tokens',
  xs: 'tokens by expert',
  rc: 'counts of tokens by expert',
  cd: 'expert outputs',
  dxd: 'gradient of the tokens at their experts',
  dce: 'gradient of the expert outputs',
  nf: 'normed input',
  dnfg: 'gradient of the normed input',
  mx: 'largest logits',
  se: 'sums of exponentials',
  tl: "labels' logits",
};
