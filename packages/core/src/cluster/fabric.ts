/** @file The network between nodes as a mapping says it: cards, and the levels of switches with their oversubscription. */
import { type Fields, fieldsOf, isMapping, wrongType } from '../errors/fields/index.ts';
import { issue } from '../errors/index.ts';
import { clusterKeysUnder } from './keys.ts';
import { fact, type NumberRule, share } from './numbers.ts';
import type { ClusterSpec, FabricTier, InterSpec } from './types.ts';

const oversubscriptionRule: NumberRule = { min: 1, max: 64 };
const MAX_TIERS = 4;
const MAX_BLOCK = 65_536;

/** The network of the mapping under `inter`; what it leaves out is the preset's. */
export function readInter(fields: Fields, preset: ClusterSpec, gpusPerNode: number): InterSpec {
  const base = preset.inter;
  const own = fields.mapping('inter', clusterKeysUnder('inter'));
  const rate = fact(own, 'Gbps', 1e9 / 8, base.rate);
  const sharedByNode = base.gpusPerNic === preset.gpusPerNode;
  const shared = own?.integer(['gpusPerNic'], { what: 'the number of devices of a card', min: 1, max: 1024 });
  return {
    name: rate === base.rate ? base.name : base.name.replace(/ [\d.]+ Gb/, ` ${Number((rate.value * 8) / 1e9)} Gb`),
    rate,
    gpusPerNic: shared ?? (sharedByNode ? gpusPerNode : base.gpusPerNic),
    efficiency: fact(own, 'efficiency', 1, base.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, base.latency),
    rails: own?.boolean(['rails'], { what: 'rails' }) ?? base.rails,
    tiers: own === undefined ? base.tiers : readTiers(own, base),
  };
}

function readTiers(own: Fields, base: InterSpec): readonly FabricTier[] {
  if (own.has('tiers')) return readList(own, base);
  const [usual] = base.tiers;
  if (usual === undefined) return base.tiers;
  const nodes = own.integer(['nodesPerLeaf'], { what: 'the number of nodes of a leaf', min: 1, max: MAX_BLOCK });
  const oversubscription = fact(own, 'oversubscription', 1, usual.oversubscription, oversubscriptionRule);
  return [{ name: nodes === undefined ? usual.name : 'leaf', nodes: nodes ?? usual.nodes, oversubscription }];
}

function readList(own: Fields, base: InterSpec): readonly FabricTier[] {
  for (const key of ['oversubscription', 'nodesPerLeaf'].filter((each) => own.has(each))) {
    const message = `${key} and tiers both say how the switches are laid.`;
    own.issues.push(issue('KEYS_CONFLICT', own.at(key), message, 'Give it in the tier that it belongs to.'));
  }
  const given = own.list('tiers');
  if (given.length === 0 || given.length > MAX_TIERS) {
    const message = `${given.length} levels of switches are not from 1 to ${MAX_TIERS}.`;
    own.issues.push(issue('VALUE_OUT_OF_RANGE', own.at('tiers'), message, 'Give the levels from the leaves outward.'));
    return base.tiers;
  }
  const tiers = given.map(({ value, path }, index) => readTier(own, value, path, base, index));
  tiers.forEach(({ nodes }, index) => {
    const before = tiers[index - 1]?.nodes ?? 1;
    if (nodes % before === 0 && (index === 0 || nodes > before)) return;
    const message = `a block of ${nodes} nodes does not hold several whole blocks of ${before}.`;
    const hint = `Use a multiple of ${before}, levels from the leaves outward.`;
    own.issues.push(issue('TIERS_NOT_NESTED', own.at(`tiers.${index}.nodes`), message, hint));
  });
  return tiers;
}

function readTier(own: Fields, value: unknown, path: string, base: InterSpec, index: number): FabricTier {
  const usual = {
    name: `level ${index + 1}`,
    nodes: 1,
    oversubscription: (base.tiers[0] as FabricTier).oversubscription,
  };
  if (!isMapping(value)) {
    own.issues.push(wrongType(path, value, 'a mapping of name, nodes and oversubscription'));
    return usual;
  }
  const fields = fieldsOf(value, path, { known: clusterKeysUnder('inter.tiers[]'), issues: own.issues });
  const rule = { what: 'the number of nodes of a block', min: 1, max: MAX_BLOCK, required: true, example: '32' };
  return {
    name: fields.text(['name'], { what: 'the name of the level' }) ?? usual.name,
    nodes: fields.integer(['nodes'], rule) ?? usual.nodes,
    oversubscription: fact(fields, 'oversubscription', 1, usual.oversubscription, oversubscriptionRule),
  };
}
