/** @file The tables of the text form: buffers, buckets with their views, units. */
import type { Dim } from '../../tensor/index.ts';
import type { Bucket, BufferDeclaration, RankList, Scope, Unit, View, ViewTensor } from '../types.ts';
import { alignRows } from './columns.ts';
import type { Margin } from './margin.ts';
import { labelWord, nameWord, numberWord } from './words.ts';

/** What is written after the name of a declared buffer, and so what its instances look like. */
export const scopeMarks: Readonly<Record<Scope, string>> = {
  period: '',
  micro: '[u]',
  block: '[l,u]',
  boundary: '<l>[u]',
};

/** `[s:4/tensor b:1 qkv:24{8,8,8}/tensor]`. */
const dimsText = (dims: readonly Dim[]): string => `[${dims.map(dimText).join(' ')}]`;

const dimText = ({ label, size, cut, parts, zigzag, routed }: Dim): string => {
  const spread = routed ? `%${routed.experts}${routed.load === 1 ? '' : `*${numberWord(routed.load)}`}` : '';
  const fused = (parts ? `{${parts.join(',')}}` : '') + spread;
  return [`${labelWord(label)}:${size}${zigzag ? '~' : ''}${fused}`, ...(cut ?? []).map(nameWord)].join('/');
};

export function bufferCells(buffer: BufferDeclaration): readonly string[] {
  const { name, role, dtype, dims, partial, scope, resident, bucket, shardOf, place } = buffer;
  const marks = [
    ...(partial ?? []).map(({ over, reduce }) => `+${reduce === 'sum' ? '' : `${reduce}:`}${nameWord(over)}`),
    ...(resident ? ['resident'] : []),
    ...(place === undefined ? [] : ['on-host']),
    ...(bucket === undefined ? [] : [`bucket:${nameWord(bucket)}`]),
    ...(shardOf === undefined ? [] : [`shard-of:${nameWord(shardOf)}`]),
  ];
  return [nameWord(name) + scopeMarks[scope], role, dtype, dimsText(dims), marks.join(' ')];
}

/** The rows of a table of buffers, without its heading. */
export const bufferTable = (buffers: readonly BufferDeclaration[], margin: Margin, indent: string): readonly string[] =>
  alignRows(
    buffers.map((buffer) => ({ cells: bufferCells(buffer), comment: margin.ofBuffer(buffer) })),
    { indent, limits: [48] },
  );

/** Buckets and units of a list. */
export function bucketTables(list: RankList, layers: number, indent: string): readonly string[] {
  const units = list.units.map((unit) => indent + unitLine(unit));
  return [...list.buckets.flatMap((bucket) => bucketTable(bucket, layers, indent)), ...units];
}

/** `unit E of tied embed`. */
export const unitLine = ({ name, buckets }: Unit): string =>
  ['unit', nameWord(name), 'of', ...buckets.map(nameWord)].join(' ');

function bucketTable(bucket: Bucket, layers: number, indent: string): readonly string[] {
  const { views } = bucket;
  const inner = `${indent}  `;
  const rows = [{ cells: heading }, ...views.map((view) => ({ cells: viewCells(view, layers) }))];
  const table = views.length === 0 ? [] : alignRows(rows, { indent: inner, right: [2], limits: [48] });
  return [indent + bucketLine(bucket), ...table];
}

const heading: readonly string[] = ['# view', 'block', 'offset', 'dims', 'decay', 'counted', 'holds'];

export function bucketLine({ name, elements, summed, frozen, copies }: Bucket): string {
  const group = copies === undefined ? '' : ` copies:${nameWord(copies)}`;
  return `bucket ${nameWord(name)} elements:${elements} summed:${summed}${frozen ? ' frozen' : ''}${group}`;
}

export const viewCells = (
  { name, block, offset, dims, decay, counted, tensors }: View,
  layers: number,
): readonly string[] => [
  nameWord(name),
  block === -1 ? 'embed' : block === layers ? 'head' : String(block),
  String(offset),
  dimsText(dims),
  decay ? 'decay' : 'no-decay',
  counted.length === 0 ? 'everywhere' : counted.map(({ axis, coordinate }) => `${axis}:${coordinate}`).join(','),
  tensors.map(tensorText).join(' '),
];

/** `h.0.attn.c_attn.weight[8,24].T`: name, shape in the checkpoint, and whether it is stored transposed. */
const tensorText = ({ name, shape, transposed }: ViewTensor): string =>
  `${nameWord(name)}[${shape.join(',')}]${transposed ? '.T' : ''}`;
