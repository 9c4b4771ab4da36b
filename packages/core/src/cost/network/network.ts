/** @file The links that the exchanges of a step use, in classes: links that every exchange loads alike are one class.
 *
 * Classes are found by colour refinement: links begin with the colour of their kind and capacity, and each exchange splits colours
 * by what it puts on them. So a slow link, or one that carries other exchanges, has a class of its own.
 */
import type { Topology } from '../../cluster/index.ts';
import { algorithms, type CollectiveKind } from '../../collectives/index.ts';
import { addLoads, createLoads, type GroupSet, type LinkLoads, type TierAlgorithms } from './loads.ts';

/** What an exchange puts on classes of links. */
export interface LinkPattern {
  /** Classes, ascending. */
  readonly classes: Uint32Array;
  /** Bytes on each link of the class over bytes of the buffer. */
  readonly share: Float64Array;
  /** The largest share that is one flow. */
  readonly largest: number;
}

/** Links that are loaded alike. */
export interface LinkClass {
  /** Bytes per second of each, and what it would be without faults. */
  readonly capacity: number;
  readonly healthy: number;
  readonly links: number;
  /** One of them. */
  readonly first: number;
}

/** Patterns by number, and the classes of their links. */
export interface NetworkLoads {
  readonly classes: readonly LinkClass[];
  readonly patterns: readonly LinkPattern[];
}

/** Collects the exchanges of a step. */
export interface NetworkBuilder {
  readonly topology: Topology;
  /** The number of the pattern of an exchange; equal ones have one. */
  add(set: GroupSet, kind: CollectiveKind, by: TierAlgorithms): number;
  /** Classes and patterns of all that was added. */
  build(): NetworkLoads;
}

const dispatchKey = ({ dispatch }: TierAlgorithms): string =>
  dispatch === undefined ? '' : `${dispatch.way} ${dispatch.topK} of ${dispatch.experts}`;

interface RawPattern {
  readonly links: Uint32Array;
  readonly share: Float64Array;
  readonly flows: Uint32Array;
  readonly largest: number;
}

/** What the tiers of a fabric do where nobody asks for anything else: switches add up where they can, rings between. */
export const usualTiers = (addsInSwitch: boolean, kind: CollectiveKind): TierAlgorithms => ({
  inside: addsInSwitch && kind === 'all-reduce' ? algorithms['in-switch'] : algorithms.ring,
  between: algorithms.ring,
});

/** A ring hands sums on as it hands on what it gathers: from each member to the next one, the same bytes. */
const flowsLike = (kind: CollectiveKind, { inside, between }: TierAlgorithms): CollectiveKind =>
  kind === 'reduce-scatter' && inside.name === 'ring' && between.name === 'ring' ? 'all-gather' : kind;

/** `healthy` has the same links without faults. */
export function createNetwork(topology: Topology, healthy: Topology = topology): NetworkBuilder {
  const loads = createLoads(topology.capacity.length);
  const numbers = new Map<string, number>();
  const raw: RawPattern[] = [];
  let built: NetworkLoads | undefined;
  return {
    topology,
    add: (set, kind, by) => {
      const key = `${set.key} ${flowsLike(kind, by)} ${by.inside.name} ${by.between.name} ${by.flat === true} ${dispatchKey(by)}`;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      addLoads(topology, set, kind, by, loads);
      raw.push(takenFrom(loads));
      numbers.set(key, raw.length - 1);
      built = undefined;
      return raw.length - 1;
    },
    build: () => {
      built ??= classify(topology, healthy, raw);
      return built;
    },
  };
}

/** What was added to the loads, which are empty again. */
function takenFrom(loads: LinkLoads): RawPattern {
  const { share, flows, touched, largest } = loads;
  const links = new Uint32Array(touched);
  const pattern = { links, share: new Float64Array(links.length), flows: new Uint32Array(links.length), largest };
  for (let index = 0; index < links.length; index++) {
    const link = links[index] as number;
    pattern.share[index] = share[link] as number;
    pattern.flows[index] = flows[link] as number;
    share[link] = 0;
    flows[link] = 0;
  }
  touched.length = 0;
  loads.largest = 0;
  return pattern;
}

function classify(topology: Topology, healthy: Topology, raw: readonly RawPattern[]): NetworkLoads {
  const { colour, count } = coloursOf(topology, healthy, raw);
  const first = new Int32Array(count).fill(-1);
  const links = new Uint32Array(count);
  for (let link = 0; link < colour.length; link++) {
    const at = colour[link] as number;
    if (first[at] === -1) first[at] = link;
    links[at] = (links[at] as number) + 1;
  }
  const used = new Uint8Array(count);
  for (const pattern of raw) for (const link of pattern.links) used[colour[link] as number] = 1;
  const number = new Int32Array(count).fill(-1);
  const classes: LinkClass[] = [];
  for (let at = 0; at < count; at++) {
    if (used[at] === 0) continue;
    number[at] = classes.length;
    const link = first[at] as number;
    classes.push({
      capacity: topology.capacity[link] as number,
      healthy: healthy.capacity[link] as number,
      links: links[at] as number,
      first: link,
    });
  }
  return { classes, patterns: raw.map((pattern) => patternOf(pattern, colour, number)) };
}

function patternOf(raw: RawPattern, colour: Uint32Array, number: Int32Array): LinkPattern {
  const shares = new Map<number, number>();
  let before = -1;
  let shareBefore = Number.NaN;
  for (let index = 0; index < raw.links.length; index++) {
    const at = number[colour[raw.links[index] as number] as number] as number;
    const share = raw.share[index] as number;
    if (at === before && share === shareBefore) continue;
    before = at;
    shareBefore = share;
    shares.set(at, share);
  }
  const rows = [...shares].sort(([one], [other]) => one - other);
  return {
    classes: Uint32Array.from(rows, ([at]) => at),
    share: Float64Array.from(rows, ([, share]) => share),
    largest: raw.largest,
  };
}

/** Colours of links, numbered from 0. */
function coloursOf(
  topology: Topology,
  healthy: Topology,
  raw: readonly RawPattern[],
): { readonly colour: Uint32Array; readonly count: number } {
  const colour = new Uint32Array(topology.capacity.length);
  let count = 0;
  const numbered = (known: Map<number | string, number>, key: number | string): number => {
    const found = known.get(key) ?? count++;
    known.set(key, found);
    return found;
  };
  for (const { first, count: row } of topology.families) {
    const capacities = new Map<number | string, number>();
    for (let link = first; link < first + row; link++) {
      const [capacity, full] = [topology.capacity[link] as number, healthy.capacity[link] as number];
      colour[link] = numbered(capacities, capacity === full ? capacity : `${capacity} of ${full}`);
    }
  }
  for (const { links, share, flows } of raw) {
    const loads = new Map<string, number>();
    const split = new Map<number | string, number>();
    let before = Number.NaN;
    let flowsBefore = -1;
    let load = 0;
    let keyBefore = -1;
    let colourBefore = 0;
    for (let index = 0; index < links.length; index++) {
      const link = links[index] as number;
      if (share[index] !== before || flows[index] !== flowsBefore) {
        before = share[index] as number;
        flowsBefore = flows[index] as number;
        const name = `${before.toPrecision(12)} ${flowsBefore}`;
        load = loads.get(name) ?? loads.size;
        loads.set(name, load);
      }
      const key = (colour[link] as number) * 4096 + load;
      if (key !== keyBefore) colourBefore = numbered(split, key);
      keyBefore = key;
      colour[link] = colourBefore;
    }
  }
  return { colour, count };
}
