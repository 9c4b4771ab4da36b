/** @file What is wrong between the dimensions of a model, and the model of those that fit together. */
import { assertInvariant, type Issue, issue } from '../errors/index.ts';
import { buildModel, withFacts } from './build.ts';
import { countParameters } from './counts.ts';
import { dimensionRules } from './dimensions.ts';
import type { ModelShape, ShapeKey } from './shape.ts';
import type { ModelSpec } from './types.ts';

/** Gives the path of a key in the file that it was read from. */
export type PathOf = (key: ShapeKey) => string;

/** What is wrong between the keys of `given`, whose single values are in range. */
export function checkDimensions(given: ModelShape, at: PathOf): readonly Issue[] {
  const shape = withFacts(given);
  return [...checkHeads(shape, given, at), ...checkFfn(shape, given, at)];
}

function checkHeads(shape: ModelShape, given: ModelShape, at: PathOf): readonly Issue[] {
  const { hidden, heads, kvHeads = heads, headSize = hidden / heads, positionKind = 'rotary' } = shape;
  if (shape.keyValueRank !== undefined) return checkRopeSize(shape, at);
  const issues: Issue[] = [];
  if (!Number.isInteger(headSize)) {
    const message = `width ${hidden} is not a multiple of ${heads} heads.`;
    const hint = `Use a number of heads that divides ${hidden}, or give the size of a head.`;
    issues.push(issue('HEAD_SIZE_NOT_WHOLE', at('heads'), message, hint, { hidden, heads }));
  } else if (positionKind === 'rotary' && headSize % 2 === 1) {
    const key = given.headSize === undefined ? 'heads' : 'headSize';
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

function checkRopeSize({ ropeSize = 0 }: ModelShape, at: PathOf): readonly Issue[] {
  if (ropeSize % 2 === 0) return [];
  const message = `rotary positions turn pairs of values and the rotary part of a head has ${ropeSize}.`;
  return [issue('HEAD_SIZE_ODD', at('ropeSize'), message, `Use ${ropeSize + 1}.`, { ropeSize })];
}

function checkFfn(shape: ModelShape, given: ModelShape, at: PathOf): readonly Issue[] {
  const { kind, ffn, ffnFactor, experts, topK = 1 } = shape;
  const issues: Issue[] = [];
  if (ffn === undefined && ffnFactor === undefined && shape.expertFfn === undefined) {
    const hint = `Add it, for example ffn: ${dimensionRules.ffn.example}.`;
    issues.push(issue('KEY_MISSING', at('ffn'), 'the width of the feed-forward is not given.', hint));
  }
  if (experts !== undefined && topK > experts && !isDense(kind)) {
    const key = given.topK === undefined ? 'experts' : 'topK';
    const message = `${topK} experts per token are more than ${experts} experts.`;
    issues.push(issue('TOP_K_OVER_EXPERTS', at(key), message, `Use at most ${experts} per token.`, { topK, experts }));
  }
  for (const key of ['experts', 'topK'] as const) {
    if (!isDense(kind) || given[key] === undefined) continue;
    const message = `${key} is given and the kind ${kind} has one dense feed-forward.`;
    issues.push(issue('MODEL_CONTRADICTS', at(key), message, 'Use kind mixtral, or remove the key.'));
  }
  if (kind === 'mixtral' && shape.mlpBias) {
    const message = 'experts with biases are not modelled.';
    issues.push(issue('MODEL_CONTRADICTS', at('mlpBias'), message, 'Remove the key or set it to false.'));
  }
  return issues;
}

const isDense = (kind: ModelShape['kind']): boolean => kind === 'gpt2' || kind === 'llama';

/** The model of `dimensions` when they fit together, with all issues; counts beyond 2^53 would not be exact. */
export function modelOf(
  dimensions: ModelShape,
  name: string,
  at: PathOf,
): { readonly model?: ModelSpec; readonly issues: readonly Issue[] } {
  const issues = checkDimensions(dimensions, at);
  if (issues.length > 0) return { issues };
  const model = buildModel(dimensions, name);
  const { total } = countParameters(model);
  if (Number.isSafeInteger(total)) return { model, issues: [] };
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
