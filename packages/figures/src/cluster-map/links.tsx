/** @file Links of the map: as wide as what crosses them in a step, with the part of the marked axis in its colour. */
import { bytes, formatBytes } from '@meshwright/core/units';
import type { VNode } from 'preact';
import { operationColour, surface } from '../palette/index.ts';
import { at, wrapText } from '../svg/geometry.ts';

/** What a rank sends over one kind of link in a step. Bytes. */
export interface MapLink {
  readonly name: string;
  /** It joins hosts; else it is inside of each. */
  readonly between: boolean;
  readonly bytesPerRank: number;
  /** Of these, for the axis that is marked. */
  readonly axisBytes: number;
}

/** One exchange of a step, as the report of a layout has it. */
interface MapTraffic {
  readonly axis: string;
  readonly crossesNode: boolean;
  /** The slowest of the links that it uses. */
  readonly link: string;
  readonly tiers: readonly { readonly link: string; readonly bytesPerRank: number }[];
}

/** Bytes by link, those inside of hosts first. */
export function mapLinks(traffic: readonly MapTraffic[], axis: string): readonly MapLink[] {
  const found = new Map<string, MapLink>();
  for (const row of traffic) {
    for (const tier of row.tiers) {
      // An exchange that leaves its host does so over the slowest of its links.
      const between = row.crossesNode && tier.link === row.link;
      const key = `${tier.link} ${between}`;
      const { bytesPerRank = 0, axisBytes = 0 } = found.get(key) ?? {};
      found.set(key, {
        name: tier.link,
        between,
        bytesPerRank: bytesPerRank + tier.bytesPerRank,
        axisBytes: axisBytes + (row.axis === axis ? tier.bytesPerRank : 0),
      });
    }
  }
  return [...found.values()].sort((one, other) => Number(one.between) - Number(other.between));
}

/** Bytes that a rank sends to other hosts in a step. */
export const bytesBetween = (traffic: readonly MapTraffic[]): number =>
  mapLinks(traffic, '').reduce((sum, { between, bytesPerRank }) => sum + (between ? bytesPerRank : 0), 0);

const WIDEST = 10;
const LINE = 16;

/** Pixels across a link: in proportion to its bytes, and never too thin to be seen. */
const linkWidth = (links: readonly MapLink[], bytesOf: number): number =>
  bytesOf === 0 ? 0 : Math.max(1, (WIDEST * bytesOf) / Math.max(...links.map(({ bytesPerRank }) => bytesPerRank)));

/** A straight link: grey for all that crosses it, coloured for the axis. */
export function LinkLine({
  links,
  link,
  path,
}: {
  readonly links: readonly MapLink[];
  readonly link: MapLink;
  readonly path: string;
}): VNode {
  return (
    <g>
      <path d={path} stroke={surface('quiet')} stroke-width={at(linkWidth(links, link.bytesPerRank))} fill="none" />
      {link.axisBytes > 0 && (
        <path
          d={path}
          stroke={operationColour('collective')}
          stroke-width={at(linkWidth(links, link.axisBytes))}
          fill="none"
        />
      )}
    </g>
  );
}

const wordsOf = ({ name, between, bytesPerRank, axisBytes }: MapLink, axis: string): string => {
  const all = formatBytes(bytes(bytesPerRank));
  const own =
    axisBytes === bytesPerRank
      ? `all for ${axis}`
      : axisBytes === 0
        ? `none for ${axis}`
        : `${formatBytes(bytes(axisBytes))} for ${axis}`;
  return `${between ? 'between hosts' : 'inside a host'}, ${name}: ${all} a rank and step, ${own}`;
};

const linesOf = (
  links: readonly MapLink[],
  axis: string,
  width: number,
): readonly (readonly [MapLink, readonly string[]])[] =>
  links.map((link) => [link, wrapText(wordsOf(link, axis), width - 36, 11)] as const);

/** Height of the legend. */
export const legendHeight = (links: readonly MapLink[], axis: string, width: number): number =>
  linesOf(links, axis, width).reduce((sum, [, lines]) => sum + lines.length * LINE, 0) + (links.length > 0 ? 8 : 0);

interface LegendProps {
  readonly links: readonly MapLink[];
  readonly axis: string;
  readonly width: number;
}

/** What each link carries, in words, with its width as it is drawn. */
export function LinkLegend({ links, axis, width }: LegendProps): VNode {
  let row = 0;
  return (
    <g>
      {linesOf(links, axis, width).map(([link, lines]) => {
        const top = row * LINE;
        row += lines.length;
        return (
          <g key={`${link.name} ${link.between}`} transform={`translate(0,${top})`}>
            <LinkLine links={links} link={link} path="M0,9H26" />
            {lines.map((line, index) => (
              <text key={line} x="36" y={13 + index * LINE} class="small">
                {line}
              </text>
            ))}
          </g>
        );
      })}
    </g>
  );
}
