/** @file A program as text: everything it says, in aligned columns, with a margin of comments for people. */
import { didYouMean, InputError, issue, quoteName } from '../../errors/index.ts';
import { type Mesh, strideOf } from '../../mesh/index.ts';
import type { Group, Program, RankList, Template } from '../types.ts';
import { type Vocabulary, vocabularyOf } from './calls.ts';
import { alignRows } from './columns.ts';
import { createMargin } from './margin.ts';
import { itemCells, operationCells } from './operation-cells.ts';
import { bucketTables, bufferTable } from './tables.ts';
import { nameWord, numberWord } from './words.ts';

/** Which lists are printed; all of them when nothing is said. */
export interface PrintOptions {
  readonly list?: string;
  readonly lists?: readonly string[];
}

/** The readable form of a program. `parseProgram` reads it back; comments are for people and are not read.
 *
 * Throws VALUE_UNKNOWN when a list is asked for that is not there.
 */
export function printProgram(program: Program, options: PrintOptions = {}): string {
  const vocabulary = vocabularyOf(program);
  const lists = chosenLists(program, options);
  const sections = [
    [...headerLines(program)],
    program.buffers.some(({ dims }) => dims.some(({ zigzag }) => zigzag)) ? [...legend, zigzagLine] : legend,
    ...(program.buffers.length === 0
      ? []
      : [['buffers', ...bufferTable(program.buffers, createMargin(program), '  ')]]),
    ...program.templates.map((template) => templateLines(program, template)),
    ...lists.map((list) => listLines(vocabulary, list)),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const legend: readonly string[] = [
  '# How to read this',
  '#   [s:4/tensor h:8]   dims with their global sizes; /tensor: cut over that axis; {8,8,8}: fused parts, each cut by itself',
  '#   +data              each rank holds its part of a sum over data that is still to be done',
  '#   n1[l,u]  z[u]      one buffer for each layer l and micro-batch u; one for each micro-batch',
  '#   x<l>[u]            the activation that goes into layer l; dx<l>[u] its gradient',
  '#   x y dx dy          in a template: what goes into the block, what comes out of it, and their gradients',
  '#   5 lane verb a -> b number, lane, what it does, what it reads and writes (+= adds); lanes run side by side, each in order',
  '#   needs 4            starts after the end of line 4, and as always when what it reads is there',
  '#   F.layer[0..3,2]    runs template F.layer for layers 0 to 3 of micro-batch 2, and shows what passes through',
  '#   W.L0@3             the copy of W.L0 that was gathered for run 3 of its unit',
  '#   # sends 32 B: why  bytes that one rank sends in this line, and the reason for it',
];

const zigzagLine =
  '#   [s:8~/context]     zigzag: of 2 n pieces, rank r of the n on the outermost axis holds pieces r and 2 n - 1 - r';

/** Widest cells that columns of numbered lines make room for: number, lane, verb, reads, writes, the rest. */
const LINE_LIMITS = [8, 12, 24, 24, 26, 30];

function chosenLists(program: Program, { list, lists }: PrintOptions): readonly RankList[] {
  const wanted = [...(lists ?? []), ...(list === undefined ? [] : [list])];
  if (lists === undefined && list === undefined) return program.lists;
  const names = program.lists.map((each) => each.name);
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new InputError(
      unknown.map((name) => {
        const near = didYouMean(name, names);
        const hint = near === undefined ? `The lists: ${names.map(quoteName).join(', ')}.` : `Did you mean ${near}?`;
        return issue('VALUE_UNKNOWN', 'list', `There is no list ${quoteName(name)}.`, hint);
      }),
    );
  }
  return program.lists.filter((each) => wanted.includes(each.name));
}

/** The lines before the first table. */
export function headerLines(program: Program): readonly string[] {
  const { name, schema, mesh, groups, layers, microBatches, lossScale, optimizer } = program;
  return [
    `program ${nameWord(name)} ${schema}`,
    meshLine('mesh', mesh.axes),
    ...(mesh.experts ? [meshLine('experts', mesh.experts)] : []),
    ...groups.map(groupLine),
    `sizes layers:${layers} micro-batches:${microBatches} loss-scale:${scaleText(lossScale)}`,
    `optimizer ${optimizer}`,
  ];
}

function meshLine(opening: 'mesh' | 'experts', grid: Mesh['axes']): string {
  const axes = grid.map(({ name, degree }) => `${name}:${degree}`);
  const terms: string[] = [];
  let stride = 1;
  for (const { name, degree } of grid) {
    if (degree > 1) terms.push(stride === 1 ? name : `${stride} ${name}`);
    stride *= degree;
  }
  const rule = terms.length === 0 ? 'one rank' : `fastest first: rank = ${terms.join(' + ')}`;
  return `${opening} ${axes.join(' ')}  # ${rule}`;
}

const groupLine = ({ name, along, coordinates, joint = [], repeats }: Group): string =>
  [
    `group ${nameWord(name)} ${along} ${coordinates.join(' ')}`,
    ...(joint.length > 0 ? [`with ${joint.join(' ')}`] : []),
    ...(repeats ? ['repeats'] : []),
  ].join(' ');

/** `1/16` where that is the number. */
function scaleText(scale: number): string {
  const tokens = Math.round(1 / scale);
  return Number.isSafeInteger(tokens) && 1 / tokens === scale ? `1/${tokens}` : numberWord(scale);
}

/** The line that opens a template. */
export const templateHeader = ({ name, block, direction, part }: Template): string =>
  ['template', nameWord(name), block, direction, ...(part ? [part] : [])].join(' ');

function templateLines(program: Program, template: Template): readonly string[] {
  const margin = createMargin(program);
  const rows = template.operations.map((operation, index) => ({
    cells: [String(index + 1), ...operationCells(operation)],
    comment: margin.ofOperation(operation),
  }));
  return [templateHeader(template), ...alignRows(rows, { indent: '  ', right: [0], limits: LINE_LIMITS })];
}

function listLines(vocabulary: Vocabulary, list: RankList): readonly string[] {
  const { program } = vocabulary;
  const margin = createMargin(program, list);
  const rows = list.items.map((item) => ({
    cells: [String(item.id), ...itemCells(vocabulary, item)],
    comment: margin.ofItem(item),
  }));
  const buffers = list.buffers.length === 0 ? [] : ['  buffers', ...bufferTable(list.buffers, margin, '    ')];
  return [
    `list ${nameWord(list.name)} pipeline:${list.pipeline}  # ${ranksText(program.mesh, list.pipeline)}`,
    ...bucketTables(list, program.layers, '  '),
    ...buffers,
    '  lines',
    ...alignRows(rows, { indent: '    ', right: [0], limits: LINE_LIMITS }),
  ];
}

const MOST_RANKS = 8;

/** "ranks 4 5 6 7": those of one pipeline coordinate, the first ones when they are many. */
function ranksText(mesh: Mesh, coordinate: number): string {
  const stride = strideOf(mesh, 'pipeline');
  const degree = mesh.axes.find((axis) => axis.name === 'pipeline')?.degree ?? 1;
  const total = mesh.axes.reduce((product, axis) => product * axis.degree, 1) / degree;
  const shown = Array.from({ length: Math.min(total, MOST_RANKS) }, (_, index) => {
    const outer = Math.floor(index / stride);
    return outer * stride * degree + coordinate * stride + (index % stride);
  });
  const more = total > MOST_RANKS ? ` ... (${total} ranks)` : '';
  return `${total === 1 ? 'rank' : 'ranks'} ${shown.join(' ')}${more}`;
}
