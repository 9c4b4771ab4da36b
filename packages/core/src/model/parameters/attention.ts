import type { AttentionSpec, GroupedAttention, LatentAttention, ParameterDim, ParameterSpec } from '../types.ts';
import { free, heads, linear, linears, matrix, rmsNorm, type Site, vector, vectors } from './site.ts';

/** Parameters of the attention of a layer, its output product among them. */
export const attentionParameters = (site: Site, attention: AttentionSpec): readonly ParameterSpec[] =>
  attention.kind === 'latent' ? latentParameters(site, attention) : groupedParameters(site, attention);

function groupedParameters(site: Site, attention: GroupedAttention): readonly ParameterSpec[] {
  const { hidden } = site.model;
  const { qkv } = site.names;
  const query = attention.heads * attention.headSize;
  const keyValue = attention.kvHeads * attention.headSize;
  const parts = [query, keyValue, keyValue];
  const fused: ParameterDim = { ...heads('qkv', query + 2 * keyValue), parts };
  return [
    matrix(site, 'qkv.w', [fused, free('h', hidden)], linears(site, qkv, parts, hidden)),
    ...(attention.qkvBias ? [vector(site, 'qkv.b', fused, vectors(site, qkv, parts))] : []),
    ...queryKeyNorms(site, attention),
    ...(attention.sinks
      ? [
          vector(site, 'sinks', heads('a', attention.heads), [
            { name: `${site.prefix}${site.names.sinks ?? 'sinks'}`, shape: [attention.heads] },
          ]),
        ]
      : []),
    ...outParameters(site, query, attention.outBias),
  ];
}

function queryKeyNorms(site: Site, attention: GroupedAttention): readonly ParameterSpec[] {
  const { queryKeyNorm: kind, headSize } = attention;
  const { queryNorm, keyNorm } = site.names;
  if (kind === undefined) return [];
  return (
    [
      ['qn.w', queryNorm, attention.heads],
      ['kn.w', keyNorm, attention.kvHeads],
    ] as const
  ).map(([name, module, count]) => {
    if (kind === 'head') return rmsNorm(site, name, module, free('d', headSize));
    if (kind === 'projection') return rmsNorm(site, name, module, heads('o', count * headSize));
    const tensor = { name: `${site.prefix}${module}.weight`, shape: [count, headSize] };
    return { ...vector(site, name, heads('a', count), [tensor]), dims: [heads('a', count), free('d', headSize)] };
  });
}

function latentParameters(site: Site, attention: LatentAttention): readonly ParameterSpec[] {
  const { hidden } = site.model;
  const names = site.names.latent;
  if (!names) throw new Error(`internal: ${site.model.kind} has latent attention and no names for it.`);
  const { heads: count, headSize, nopeSize, ropeSize, valueSize, queryRank, keyValueRank: rank, qkvBias } = attention;
  const query = heads('q', count * headSize);
  const up = heads('kv', count * (nopeSize + valueSize));
  const down = free('c', rank + ropeSize);
  const from = queryRank ?? hidden;
  const module = queryRank === undefined ? names.query : names.queryUp;
  return [
    ...(queryRank === undefined
      ? []
      : [
          matrix(
            site,
            'qa.w',
            [free('r', queryRank), free('h', hidden)],
            linears(site, [names.queryDown], [queryRank], hidden),
          ),
          ...(qkvBias
            ? [vector(site, 'qa.b', free('r', queryRank), vectors(site, [names.queryDown], [queryRank]))]
            : []),
          rmsNorm(site, 'qan.w', names.queryDownNorm, free('r', queryRank)),
        ]),
    matrix(site, 'q.w', [query, free('r', from)], [linear(site, module, query.size, from)]),
    matrix(site, 'kva.w', [down, free('h', hidden)], [linear(site, names.keyValueDown, down.size, hidden)]),
    ...(qkvBias ? [vector(site, 'kva.b', down, vectors(site, [names.keyValueDown], [down.size]))] : []),
    rmsNorm(site, 'kvan.w', names.keyValueDownNorm, free('c', rank)),
    matrix(site, 'kvb.w', [up, free('c', rank)], [linear(site, names.keyValueUp, up.size, rank)]),
    ...indexerParameters(site, attention, names.indexer),
    ...outParameters(site, count * valueSize, attention.outBias),
  ];
}

/** The heads that choose tokens read the narrow query and the hidden state; their keys have a layer norm. */
function indexerParameters(site: Site, attention: LatentAttention, prefix: string): readonly ParameterSpec[] {
  const { indexer, queryRank } = attention;
  if (!indexer) return [];
  const { hidden } = site.model;
  const from = queryRank ?? hidden;
  const rows = indexer.heads * indexer.size;
  const key = free('d', indexer.size);
  const normed = [`${prefix}.k_norm`];
  return [
    matrix(site, 'iq.w', [free('i', rows), free('r', from)], [linear(site, `${prefix}.wq_b`, rows, from)]),
    matrix(site, 'ik.w', [key, free('h', hidden)], [linear(site, `${prefix}.wk`, key.size, hidden)]),
    vector(site, 'ikn.w', key, vectors(site, normed, [key.size], 'weight')),
    vector(site, 'ikn.b', key, vectors(site, normed, [key.size])),
    matrix(
      site,
      'iw.w',
      [free('i', indexer.heads), free('h', hidden)],
      [linear(site, `${prefix}.weights_proj`, indexer.heads, hidden)],
    ),
  ];
}

function outParameters(site: Site, width: number, biased: boolean): readonly ParameterSpec[] {
  const { hidden } = site.model;
  const { out } = site.names;
  const columns = free('h', hidden);
  return [
    matrix(site, 'proj.w', [columns, heads('o', width)], [linear(site, out, hidden, width)]),
    ...(biased ? [vector(site, 'proj.b', columns, vectors(site, [out], [hidden]))] : []),
  ];
}
