/** @file Models by their dimensions: the short form that presets, job files and readers of `config.json` all end in. */
import { assertInvariant, type Issue, issue } from '../errors/index.ts';
import { countParameters } from './counts.ts';
import type { ActivationKind, DenseFfn, LayerSpec, ModelSpec, MoeFfn } from './types.ts';

/** A model whose layers are all alike. Absent keys take the default of the kind. */
export interface ModelDimensions {
  readonly kind: ModelSpec['kind'];
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Key and value heads; absent: as many as `heads`. */
  readonly kvHeads?: number;
  /** Absent: hidden / heads. */
  readonly headSize?: number;
  /** Width of the feed-forward, or of one expert. Absent: 4 hidden for gpt2; the other kinds need it. */
  readonly ffn?: number;
  readonly vocab: number;
  /** Longest sequence; for gpt2 the rows of the position table. Absent: {@link kindDefaults}. */
  readonly positions?: number;
  /** Experts of a layer and experts per token; mixtral only. */
  readonly experts?: number;
  readonly topK?: number;
  /** The head is the embedding's matrix. Absent: yes for gpt2, no otherwise. */
  readonly tied?: boolean;
  /** Biases; absent: all for gpt2, none otherwise. */
  readonly qkvBias?: boolean;
  readonly outBias?: boolean;
  readonly mlpBias?: boolean;
  readonly activation?: ActivationKind;
  /** Base of the rotary frequencies. */
  readonly theta?: number;
  readonly epsilon?: number;
  /** Tokens that attention looks back; read, and priced as full attention. */
  readonly slidingWindow?: number;
}

export type DimensionKey = keyof ModelDimensions;

/** A key of the dimensions as data: what it takes, for readers, the JSON Schema and the reference. */
export interface DimensionRule {
  readonly type: 'integer' | 'real' | 'boolean' | 'name';
  readonly what: string;
  readonly min?: number;
  readonly max?: number;
  readonly names?: readonly string[];
  readonly example?: string;
}

const activations: readonly ActivationKind[] = ['gelu', 'gelu-tanh', 'silu', 'relu'];

/** Every key of the dimensions with its range. The upper ends are far beyond what anybody trains; they catch slips. */
export const dimensionRules: Readonly<Record<DimensionKey, DimensionRule>> = {
  kind: { type: 'name', what: 'the kind of model', names: ['gpt2', 'llama', 'mixtral', 'toy'], example: 'llama' },
  layers: { type: 'integer', what: 'the number of layers', min: 1, max: 4096, example: '32' },
  hidden: { type: 'integer', what: 'the width of the model', min: 1, max: 2 ** 20, example: '4096' },
  heads: { type: 'integer', what: 'the number of query heads', min: 1, max: 2 ** 16, example: '32' },
  kvHeads: { type: 'integer', what: 'the number of key and value heads', min: 1, max: 2 ** 16 },
  headSize: { type: 'integer', what: 'the size of a head', min: 1, max: 2 ** 16 },
  ffn: { type: 'integer', what: 'the width of the feed-forward', min: 1, max: 2 ** 22, example: '14336' },
  vocab: { type: 'integer', what: 'the size of the vocabulary', min: 1, max: 2 ** 24, example: '128256' },
  positions: { type: 'integer', what: 'the longest sequence', min: 1, max: 2 ** 28 },
  experts: { type: 'integer', what: 'the number of experts', min: 1, max: 4096 },
  topK: { type: 'integer', what: 'the number of experts per token', min: 1, max: 4096 },
  tied: { type: 'boolean', what: 'whether the head is the embedding' },
  qkvBias: { type: 'boolean', what: 'whether queries, keys and values have a bias' },
  outBias: { type: 'boolean', what: 'whether the output projection of attention has a bias' },
  mlpBias: { type: 'boolean', what: 'whether the feed-forward has biases' },
  activation: { type: 'name', what: 'the activation function', names: activations },
  theta: { type: 'real', what: 'the base of the rotary frequencies', min: 1, max: 1e12 },
  epsilon: { type: 'real', what: 'the epsilon of the norms', min: 0, max: 1 },
  slidingWindow: { type: 'integer', what: 'the window of attention', min: 1, max: 2 ** 28 },
};

interface KindDefaults {
  readonly positions: number;
  readonly epsilon: number;
  readonly experts: number;
  readonly topK: number;
}

/** What a kind assumes for absent keys. Source: defaults of GPT2Config, LlamaConfig and MixtralConfig of transformers. */
const kindDefaults: Readonly<Record<ModelSpec['kind'], KindDefaults>> = {
  gpt2: { positions: 1024, epsilon: 1e-5, experts: 1, topK: 1 },
  llama: { positions: 2048, epsilon: 1e-6, experts: 1, topK: 1 },
  mixtral: { positions: 131_072, epsilon: 1e-5, experts: 8, topK: 2 },
};

const DEFAULT_THETA = 10_000;

/** What is wrong between the keys of `dimensions`, whose single values are in range. `at` gives the path of a key. */
export function checkDimensions(dimensions: ModelDimensions, at: (key: DimensionKey) => string): readonly Issue[] {
  return [...checkHeads(dimensions, at), ...checkFfn(dimensions, at)];
}

function checkHeads(dimensions: ModelDimensions, at: (key: DimensionKey) => string): readonly Issue[] {
  const { hidden, heads, kvHeads = heads, headSize = hidden / heads } = dimensions;
  const issues: Issue[] = [];
  if (!Number.isInteger(headSize)) {
    const message = `width ${hidden} is not a multiple of ${heads} heads.`;
    const hint = `Use a number of heads that divides ${hidden}, or give the size of a head.`;
    issues.push(issue('HEAD_SIZE_NOT_WHOLE', at('heads'), message, hint, { hidden, heads }));
  } else if (dimensions.kind !== 'gpt2' && headSize % 2 === 1) {
    const key = dimensions.headSize === undefined ? 'heads' : 'headSize';
    const hint = `Use an even head size, for example ${headSize + 1}.`;
    const message = `rotary positions turn pairs of values and a head has ${headSize}.`;
    issues.push(issue('HEAD_SIZE_ODD', at(key), message, hint, { headSize }));
  }
  if (heads % kvHeads !== 0) {
    const fits = divisorsOf(heads);
    const message = `${heads} query heads cannot be shared by ${kvHeads} key and value heads.`;
    issues.push(
      issue('KV_HEADS_NOT_DIVISOR', at('kvHeads'), message, `Use ${listed(fits)}.`, { heads, kvHeads, fits }),
    );
  }
  return issues;
}

function checkFfn(dimensions: ModelDimensions, at: (key: DimensionKey) => string): readonly Issue[] {
  const { kind, ffn } = dimensions;
  const { experts = kindDefaults[kind].experts, topK = kindDefaults[kind].topK } = dimensions;
  const issues: Issue[] = [];
  if (ffn === undefined && kind !== 'gpt2') {
    const hint = `Add it, for example ffn: ${dimensionRules.ffn.example}.`;
    issues.push(issue('KEY_MISSING', at('ffn'), 'the width of the feed-forward is not given.', hint));
  }
  if (kind === 'mixtral' && topK > experts) {
    const key = dimensions.topK === undefined ? 'experts' : 'topK';
    const message = `${topK} experts per token are more than ${experts} experts.`;
    issues.push(issue('TOP_K_OVER_EXPERTS', at(key), message, `Use at most ${experts} per token.`, { topK, experts }));
  }
  for (const key of ['experts', 'topK'] as const) {
    if (kind === 'mixtral' || dimensions[key] === undefined) continue;
    const message = `${key} is given and the kind ${kind} has one dense feed-forward.`;
    issues.push(issue('MODEL_CONTRADICTS', at(key), message, 'Use kind mixtral, or remove the key.'));
  }
  if (kind === 'mixtral' && dimensions.mlpBias) {
    const message = 'experts with biases are not modelled.';
    issues.push(issue('MODEL_CONTRADICTS', at('mlpBias'), message, 'Remove the key or set it to false.'));
  }
  return issues;
}

/** The model of valid dimensions, frozen; its layers are one object repeated. */
export function buildModel(dimensions: ModelDimensions, name: string): ModelSpec {
  const { kind, hidden, heads } = dimensions;
  const gpt = kind === 'gpt2';
  const positions = dimensions.positions ?? kindDefaults[kind].positions;
  const attention: LayerSpec['attention'] = Object.freeze({
    kind: 'grouped-query',
    heads,
    kvHeads: dimensions.kvHeads ?? heads,
    headSize: dimensions.headSize ?? hidden / heads,
    qkvBias: dimensions.qkvBias ?? gpt,
    outBias: dimensions.outBias ?? gpt,
    rotary: gpt ? undefined : Object.freeze({ theta: dimensions.theta ?? DEFAULT_THETA }),
  });
  const layer: LayerSpec = Object.freeze({ attention, ffn: Object.freeze(buildFfn(dimensions)) });
  return Object.freeze({
    name,
    kind,
    hidden,
    vocabulary: dimensions.vocab,
    learnedPositions: gpt ? positions : undefined,
    maxLength: positions,
    norm: gpt ? 'layernorm' : 'rmsnorm',
    normEpsilon: dimensions.epsilon ?? kindDefaults[kind].epsilon,
    tied: dimensions.tied ?? gpt,
    layers: Object.freeze(Array.from({ length: dimensions.layers }, () => layer)),
  });
}

function buildFfn(dimensions: ModelDimensions): DenseFfn | MoeFfn {
  const { kind, hidden } = dimensions;
  const gpt = kind === 'gpt2';
  const width = dimensions.ffn ?? 4 * hidden;
  const activation = dimensions.activation ?? (gpt ? 'gelu-tanh' : 'silu');
  if (kind !== 'mixtral') return { kind: 'dense', width, gated: !gpt, activation, bias: dimensions.mlpBias ?? gpt };
  const { experts = kindDefaults.mixtral.experts, topK = kindDefaults.mixtral.topK } = dimensions;
  return { kind: 'moe', experts, topK, width, gated: true, activation };
}

/** The model of `dimensions` when they fit together, with all issues; counts beyond 2^53 would not be exact. */
export function modelOf(
  dimensions: ModelDimensions,
  name: string,
  at: (key: DimensionKey) => string,
): { readonly model?: ModelSpec; readonly issues: readonly Issue[] } {
  const issues = checkDimensions(dimensions, at);
  if (issues.length > 0) return { issues };
  const model = buildModel(dimensions, name);
  const { total } = countParameters(model);
  if (Number.isSafeInteger(total)) return { model, issues };
  const message = `${total.toPrecision(3)} parameters are more than the ${Number.MAX_SAFE_INTEGER} that are counted exactly.`;
  return { issues: [issue('MODEL_TOO_LARGE', at('layers'), message, 'Check the dimensions.')] };
}

/** Divisors of `value` in ascending order. */
function divisorsOf(value: number): readonly number[] {
  assertInvariant(Number.isInteger(value) && value > 0, () => `divisors of ${value}`);
  return Array.from({ length: value }, (_, index) => index + 1).filter((divisor) => value % divisor === 0);
}

const listed = (values: readonly number[]): string =>
  values.length === 1 ? `${values[0]}` : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
