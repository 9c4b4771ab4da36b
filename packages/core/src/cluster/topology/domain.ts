/** @file Links inside of link domains: to a switch, from each device to each, and on a torus. Numbers count from 0. */
import { assertInvariant } from '../../errors/index.ts';
import type { LinkFamily, LinkName } from './types.ts';

/** Links of all domains. */
export interface DomainLinks {
  readonly family: LinkFamily;
  readonly count: number;
  nameOf(index: number): Omit<LinkName, 'family'>;
  /** Between two devices of one domain. */
  route(from: number, to: number, visit: (link: number) => void): void;
}

/** One link out and one in for each device; a switch that never blocks between them. */
export function switchLinks(devices: number, domain: number): DomainLinks {
  return {
    family: 'device',
    count: domain > 1 ? 2 * devices : 0,
    nameOf: (index) => {
      const device = `device ${index >> 1}`;
      const centre = `switch ${Math.floor((index >> 1) / domain)}`;
      return index % 2 === 0 ? { from: device, to: centre } : { from: centre, to: device };
    },
    route: (from, to, visit) => {
      visit(2 * from);
      visit(2 * to + 1);
    },
  };
}

/** A link from each device to each other one of its domain. */
export function meshLinks(devices: number, domain: number): DomainLinks {
  const each = domain - 1;
  return {
    family: 'mesh',
    count: devices * each,
    nameOf: (index) => {
      const from = Math.floor(index / each);
      const place = index % each;
      const own = from % domain;
      return { from: `device ${from}`, to: `device ${from - own + (place < own ? place : place + 1)}` };
    },
    route: (from, to, visit) => {
      const [own, other] = [from % domain, to % domain];
      visit(from * each + (other < own ? other : other - 1));
    },
  };
}

/** Links to both neighbours on each dim; messages take the shorter way, dim by dim. */
export function torusLinks(devices: number, domain: number, sizes: readonly number[]): DomainLinks {
  assertInvariant(
    sizes.reduce((product, size) => product * size, 1) === domain,
    () => `a torus of ${sizes.join(' x ')} has not ${domain} devices`,
  );
  const each = 2 * sizes.length;
  const strides = sizes.map((_, dim) => sizes.slice(0, dim).reduce((product, size) => product * size, 1));
  const neighbour = (device: number, dim: number, step: number): number => {
    const [size = 1, stride = 1] = [sizes[dim], strides[dim]];
    const at = Math.floor((device % domain) / stride) % size;
    return device + (((at + step + size) % size) - at) * stride;
  };
  return {
    family: 'torus',
    count: devices * each,
    nameOf: (index) => {
      const from = Math.floor(index / each);
      const place = index % each;
      return {
        from: `device ${from}`,
        to: `device ${neighbour(from, place >> 1, place % 2 === 0 ? 1 : -1)} (dim ${place >> 1})`,
      };
    },
    route: (from, to, visit) => {
      let at = from;
      for (let dim = 0; dim < sizes.length; dim++) {
        const [size = 1, stride = 1] = [sizes[dim], strides[dim]];
        const coordinate = (device: number): number => Math.floor((device % domain) / stride) % size;
        const ahead = (coordinate(to) - coordinate(at) + size) % size;
        const forward = 2 * ahead <= size;
        for (let left = forward ? ahead : size - ahead; left > 0; left--) {
          visit(at * each + 2 * dim + (forward ? 0 : 1));
          at = neighbour(at, dim, forward ? 1 : -1);
        }
      }
    },
  };
}
