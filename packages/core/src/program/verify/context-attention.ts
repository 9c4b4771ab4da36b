/** @file Attention over a sequence that ranks share: blocks of keys and values that come past, or all of them gathered.
 *
 * The law: the queries of a rank meet the keys and values of every rank exactly once (zigzag cuts and causal masks are the
 * kernel's business, the same for all). So the blocks that are merged into one output, and into one gradient of queries, are
 * the keys of as many hops as there are ranks, each hop once, and each block says truly how far its keys have come. The
 * gradients of keys and values travel along: what is added to them stands at the same hop, every rank adds its part once,
 * and they are used when they have come home.
 */
import { cutWays, type Degrees } from '../../tensor/index.ts';
import { boundaryName } from '../expand.ts';
import type { BufferDeclaration, Collective, Compute, Operation, Program, Template } from '../types.ts';
import { labelOf, type Report } from './report.ts';

/** How far keys have come, in hops; `all` where they are gathered. */
type Hop = number | 'all';

/** What is known of a buffer: where the keys that it speaks of stand, and which hops have added their part. */
interface Passed {
  readonly at: Hop;
  readonly met: ReadonlySet<Hop>;
  /** Ranks that have to be met. */
  readonly ranks: number;
}

/** Reports blocks of attention that are missing, double or of other keys than they say. */
export function verifyContextAttention(program: Program, degrees: Degrees, report: Report): void {
  const declared = new Map(program.buffers.map((buffer) => [buffer.name, buffer]));
  for (const template of program.templates) verifyTemplate(template, declared, degrees, report);
}

interface Pass {
  readonly states: Map<string, Passed>;
  readonly ranksOf: (buffer: string) => number;
  readonly find: (message: string) => void;
}

function verifyTemplate(
  template: Template,
  declared: ReadonlyMap<string, BufferDeclaration>,
  degrees: Degrees,
  report: Report,
): void {
  const states = new Map<string, Passed>();
  const ranksOf = (buffer: string): number => {
    const [sequence] = declared.get(boundaryName(buffer))?.dims ?? [];
    return sequence === undefined ? 1 : cutWays(sequence, degrees);
  };
  template.operations.forEach((operation, index) => {
    const path = `${template.name}:${index + 1} ${labelOf(operation)}`;
    const find = (message: string): void =>
      report.on(path, {
        code: 'ATTENTION_NOT_COVERED',
        message,
        hint: 'Let the queries of each rank meet the keys of every rank once, each at its hop.',
      });
    step({ states, ranksOf, find }, operation);
  });
}

function step(pass: Pass, operation: Operation): void {
  if (operation.kind === 'collective') return move(pass, operation);
  if (operation.kind !== 'compute') return;
  switch (operation.kernel) {
    case 'kv': {
      const [to] = operation.writes;
      if (to) pass.states.set(to.buffer, { at: 0, met: new Set(), ranks: pass.ranksOf(to.buffer) });
      return;
    }
    case 'attention.block':
      return forwardBlock(pass, operation);
    case 'attention.block.dx':
      return backwardBlock(pass, operation);
    case 'add':
      return addParts(pass, operation);
    case 'join-qkv':
      for (const read of operation.reads) checkFull(pass, read);
      return forget(pass, operation);
    default:
      for (const read of operation.reads) checkFull(pass, read);
      forget(pass, operation);
  }
}

const forget = ({ states }: Pass, { writes }: Compute): void => {
  for (const { buffer } of writes) states.delete(buffer);
};

function move(pass: Pass, { collective, reads, writes }: Collective): void {
  const [from = ''] = reads;
  const to = writes[0]?.buffer ?? '';
  const state = pass.states.get(from);
  if (state === undefined) {
    pass.states.delete(to);
    return;
  }
  const { at, met, ranks } = state;
  if (collective === 'shift' && at !== 'all') pass.states.set(to, { at: at + 1, met, ranks });
  else if (collective === 'all-gather') pass.states.set(to, { at: 'all', met, ranks: 1 });
  else if (collective === 'reduce-scatter') pass.states.set(to, { at: 0, met, ranks });
  else checkFull(pass, from);
}

/** Where the keys of a block stand; what the block says of it is held against that. */
function hopOf(pass: Pass, { reads, attributes = {} }: Compute, operand: number): Passed | undefined {
  const keys = reads[operand] ?? '';
  const state = pass.states.get(keys);
  const said = attributes['hop'] ?? 'all';
  if (state === undefined || state.at !== said) {
    pass.find(`The block speaks of keys of hop ${said}: ${keys} holds those of hop ${state?.at ?? 'none'}.`);
  }
  return state;
}

function forwardBlock(pass: Pass, operation: Compute): void {
  const keys = hopOf(pass, operation, 1);
  const [output, statistics] = operation.writes;
  const [, , before = 'none', beforeStatistics = 'none'] = operation.reads;
  if (keys === undefined || output === undefined) return;
  const merges = before !== 'none';
  const own = merges
    ? output.buffer === before && statistics?.buffer === beforeStatistics
    : beforeStatistics === 'none';
  if (!own) pass.find(`The block merges ${before} and ${beforeStatistics}: it writes ${output.buffer}.`);
  meet(pass, output.buffer, merges, keys);
}

function backwardBlock(pass: Pass, operation: Compute): void {
  const keys = hopOf(pass, operation, 2);
  const [query, key] = operation.writes;
  if (keys === undefined || query === undefined || key === undefined) return;
  meet(pass, query.buffer, query.accumulate ?? false, keys);
  pass.states.set(key.buffer, { at: keys.at, met: new Set([keys.at]), ranks: keys.ranks });
}

/** Notes that the queries behind a buffer have met the keys of one more hop. */
function meet({ states, find }: Pass, buffer: string, merges: boolean, { at, ranks }: Passed): void {
  const before = (merges ? states.get(buffer)?.met : undefined) ?? new Set<Hop>();
  if (before.has(at)) find(`${buffer} meets the keys of hop ${at}: it has met them before.`);
  states.set(buffer, { at: 0, met: new Set([...before, at]), ranks });
}

/** A rank's own part of a gradient joins what has come past. */
function addParts(pass: Pass, operation: Compute): void {
  const [branch = '', , residual = ''] = operation.reads;
  const [write] = operation.writes;
  const [one, other] = [pass.states.get(branch), pass.states.get(residual)];
  if (one === undefined || other === undefined || write === undefined) {
    for (const read of [branch, residual]) checkFull(pass, read);
    return forget(pass, operation);
  }
  const twice = [...one.met].find((hop) => other.met.has(hop));
  if (one.at !== other.at || twice !== undefined) {
    pass.find(
      `${branch} of hop ${one.at} is added to ${residual} of hop ${other.at}: ${twice ?? 'no'} part is in both.`,
    );
  }
  pass.states.set(write.buffer, { ...other, met: new Set([...one.met, ...other.met]) });
}

/** Everything has been met, and what travels is at home. */
function checkFull({ states, find }: Pass, buffer: string): void {
  const state = states.get(buffer);
  if (state === undefined || state.met.size === 0) return;
  const { at, met, ranks } = state;
  const home = at !== 'all' && at % ranks === 0;
  if (home && (met.has('all') || met.size === ranks)) return;
  find(`${buffer} is used after the keys of ${met.size} ranks, at hop ${at}: it needs those of all ${ranks}, at home.`);
}
