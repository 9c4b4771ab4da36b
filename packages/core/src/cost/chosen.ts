/** @file Exchanges by an algorithm and protocol of one's choice, or as the communication libraries would choose: tier by tier,
 * steps x latency + bytes / rate of the links as they are stated.
 *
 * Without a choice prices come from curves that were measured on whatever the library did (exchange.ts); those know more.
 */
import {
  algorithms,
  type Choice,
  type ChoiceLink,
  type CollectiveKind,
  chooseExchange,
  protocols,
} from '../collectives/index.ts';
import { joinedTransfers } from './exchange.ts';
import type { GroupPrice } from './group-price.ts';
import type { ExchangeRequest, ExchangeWays } from './price-types.ts';

/** One tier of links that a group works on. */
interface Tier extends ChoiceLink {
  readonly name: 'inside' | 'node' | 'between';
  readonly ranks: number;
  /** Bytes of the buffer that a member carries on it. */
  readonly bytes: number;
}

/** Whether a choice of ways speaks of this request: scalars and messages have theirs in the program. */
export const isChosen = ({ kind, algorithm }: ExchangeRequest, ways: ExchangeWays | undefined): ways is ExchangeWays =>
  ways !== undefined && kind !== 'send' && kind !== 'all-to-all' && algorithm !== 'direct';

/** How each tier runs an exchange. */
export function choicesOf(
  group: GroupPrice,
  { kind, bytes }: ExchangeRequest,
  ways: ExchangeWays,
): readonly (Choice & { readonly tier: Tier })[] {
  return tiersOfGroup(group, bytes).map((tier) => ({ ...chosen(kind, tier, ways), tier }));
}

/** Seconds of a request whose ways are chosen. */
export function chosenTime(group: GroupPrice, request: ExchangeRequest, ways: ExchangeWays): number {
  let latency = 0;
  const transfers = { inside: 0, node: 0, between: 0 };
  for (const { algorithm, protocol, tier } of choicesOf(group, request, ways)) {
    const way = algorithms[algorithm];
    const { share, latency: slower } = protocols[protocol];
    transfers[tier.name] = way.busiest(request.kind, tier.bytes, tier.ranks) / (tier.bytesPerSecond * share);
    latency += way.steps(request.kind, tier.ranks) * tier.latencySeconds * slower[tier.link];
  }
  return latency + joinedTransfers(transfers.inside, transfers.node, transfers.between);
}

function chosen(kind: CollectiveKind, tier: Tier, { algorithm, protocol }: ExchangeWays): Choice {
  const forced = algorithm === undefined || algorithm === 'library' ? {} : { algorithm };
  return chooseExchange(kind, tier.bytes, tier.ranks, tier, { ...forced, ...(protocol && { protocol }) });
}

function tiersOfGroup(group: GroupPrice, bytes: number): readonly Tier[] {
  const { inDomain, inNode, islands } = group;
  const rows: readonly Tier[] = [
    {
      name: 'inside',
      ranks: inDomain,
      bytes,
      latencySeconds: group.insideLatency,
      bytesPerSecond: group.insideRate,
      link: 'nvlink',
      addsInSwitch: group.addsInSwitch,
    },
    {
      name: 'node',
      ranks: inNode,
      bytes: bytes / inDomain,
      latencySeconds: group.pcieLatency,
      bytesPerSecond: group.pcieRate,
      link: 'pcie',
      addsInSwitch: false,
    },
    {
      name: 'between',
      ranks: islands,
      bytes: bytes / inDomain / inNode,
      latencySeconds: group.netLatency,
      bytesPerSecond: group.netRate,
      link: 'network',
      addsInSwitch: false,
    },
  ];
  return rows.filter(({ ranks }) => ranks > 1);
}
