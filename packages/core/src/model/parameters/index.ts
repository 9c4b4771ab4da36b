/** @file Every parameter of a model, in the logical form that the step program uses and under Hugging Face names.
 *
 * A tied head has no tensor of its own. Modules that predict further tokens are not among the parameters; they are
 * listed beside.
 */
import { withAdapterParameters } from '../adapters.ts';
import type { BlockId, LayerSpec, ModelSpec, ParameterSpec } from '../types.ts';
import { attentionParameters } from './attention.ts';
import { denseParameters, expertParameters } from './ffn.ts';
import { even, free, linear, matrix, norm, rmsNorm, type Site, siteOf, vector, vectors } from './site.ts';

/** A Hugging Face tensor by name and shape. */
export interface HfTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/** All parameters, block by block: embedding, layers in order, head. */
export function parametersOf(model: ModelSpec): readonly ParameterSpec[] {
  const blocks: readonly BlockId[] = ['embed', ...model.layers.keys(), 'head'];
  return blocks.flatMap((block) => blockParameters(model, block));
}

/** Parameters of one block. */
export function blockParameters(model: ModelSpec, block: BlockId): readonly ParameterSpec[] {
  if (typeof block === 'number') return withAdapterParameters(layerParametersOf(model, block), model);
  const site = siteOf(model, block);
  const own = block === 'embed' ? embedParameters(site) : headParameters(site);
  return model.adapters === undefined ? own : own.map((each) => ({ ...each, frozen: true }));
}

/** Parameters of a layer without adapters. */
export function layerParametersOf(model: ModelSpec, index: number): readonly ParameterSpec[] {
  const layer = model.layers[index];
  return layer === undefined ? [] : layerParameters(siteOf(model, index), layer);
}

/** {@link blockParameters} of one model, each block's written once: those of many experts are hundreds of names. */
export function parameterBook(model: ModelSpec): (block: BlockId) => readonly ParameterSpec[] {
  const known = new Map<BlockId, readonly ParameterSpec[]>();
  return (block) => {
    const found = known.get(block) ?? blockParameters(model, block);
    known.set(block, found);
    return found;
  };
}

/** Tensors of the checkpoint that Hugging Face would write, each once; a tied head is not written. */
export const hfTensors = (model: ModelSpec): readonly HfTensor[] => parametersOf(model).flatMap(tensorsOf);

const tensorsOf = (parameter: ParameterSpec): readonly HfTensor[] =>
  parameter.tensors.map(({ name, shape }) => ({ name, shape }));

/** Parameters of the modules that predict further tokens, module by module. What they share with the model (embedding,
 * output matrix) is not counted again. */
export function mtpParameters(model: ModelSpec): readonly (readonly ParameterSpec[])[] {
  const { mtp } = model;
  const { mtp: names, layer } = siteOf(model, 'head').names;
  if (!mtp || !names) return [];
  const { hidden } = model;
  const first = names.prefix === undefined ? model.layers.length : 0;
  return Array.from({ length: mtp.modules }, (_, index) => {
    const block = first + index;
    const site: Site = { ...siteOf(model, block), prefix: `${names.prefix ?? layer}.${block}.` };
    return [
      ...names.norms.map((module) => rmsNorm(site, `mtp.${module}.w`, module, free('h', hidden))),
      matrix(
        site,
        'mtp.project.w',
        [free('h', hidden), free('k', 2 * hidden)],
        [linear(site, names.project, hidden, 2 * hidden)],
      ),
      ...layerParameters(site, mtp.layer),
    ];
  });
}

/** Tensors of the modules that predict further tokens, as a checkpoint names them. */
export const hfTensorsOfMtp = (model: ModelSpec): readonly HfTensor[] => mtpParameters(model).flat().flatMap(tensorsOf);

function embedParameters(site: Site): readonly ParameterSpec[] {
  const { names } = site;
  const { hidden, vocabulary, learnedPositions, embeddingNorm } = site.model;
  const columns = free('h', hidden);
  const table = (name: string, module: string, rows: ReturnType<typeof free>): ParameterSpec =>
    matrix(site, name, [rows, columns], [{ name: `${module}.weight`, shape: [rows.size, hidden] }]);
  return [
    table('wte', names.embed, even('v', vocabulary)),
    ...(learnedPositions === undefined ? [] : [table('wpe', names.positions ?? '', free('n', learnedPositions))]),
    ...(embeddingNorm ? norm(site, 'lne', names.embeddingNorm ?? '') : []),
  ];
}

function headParameters(site: Site): readonly ParameterSpec[] {
  const { hidden, vocabulary, tied, headBias } = site.model;
  const { head, final } = site.names;
  const rows = even('v', vocabulary);
  const tensor = { name: `${head}.weight`, shape: [vocabulary, hidden] };
  return [
    ...norm(site, 'lnf', final),
    ...(tied ? [] : [matrix(site, 'lm.w', [rows, free('h', hidden)], [tensor])]),
    ...(headBias ? [vector(site, 'lm.b', rows, vectors(site, [head], [vocabulary]))] : []),
  ];
}

function layerParameters(site: Site, layer: LayerSpec): readonly ParameterSpec[] {
  const { names } = site;
  const { ffn, placement = 'pre' } = layer;
  const behind = placement === 'post' || placement === 'both';
  return [
    ...(placement === 'post' ? [] : norm(site, 'ln1', names.beforeAttention)),
    ...attentionParameters(site, layer.attention),
    ...(behind ? norm(site, 'pn1', names.afterAttention) : []),
    ...(placement === 'post' || placement === 'parallel-shared' ? [] : norm(site, 'ln2', names.beforeFfn)),
    ...(ffn.kind === 'dense' ? denseParameters(site, ffn) : expertParameters(site, ffn)),
    ...(behind ? norm(site, 'pn2', names.afterFfn) : []),
  ];
}
