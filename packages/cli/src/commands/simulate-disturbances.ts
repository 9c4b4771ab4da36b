/** @file What makes a simulated step unlike a healthy one, as the command line says it. */
import type { ExchangeWays, LinkFault } from '@meshwright/core/cost';
import { InputError, type Issue, issue, quote } from '@meshwright/core/errors';
import type { SettleOptions } from '@meshwright/core/plan';

/** Options of `simulate` that slow things down. */
export interface DisturbanceOptions {
  readonly alone?: true | undefined;
  readonly slow?: readonly string[] | undefined;
  readonly link?: readonly string[] | undefined;
  readonly jitter?: string | undefined;
  readonly seed?: string | undefined;
  readonly exchanges?: (typeof exchangeNames)[number] | undefined;
  readonly protocol?: (typeof protocolNames)[number] | undefined;
}

/** Ways to run collectives. */
export const exchangeNames = ['library', 'ring', 'tree', 'halving-doubling', 'in-switch', 'direct'] as const;
export const protocolNames = ['ll', 'll128', 'simple'] as const;

/** The ways that the command line names; undefined where it names none. */
export const readWays = ({ exchanges, protocol }: DisturbanceOptions): ExchangeWays | undefined =>
  exchanges === undefined && protocol === undefined
    ? undefined
    : { ...(exchanges && { algorithm: exchanges }), ...(protocol && { protocol }) };

const families: readonly LinkFault['family'][] = ['device', 'mesh', 'torus', 'pcie', 'uplink', 'nic', 'leaf'];

/** Reads them. Throws an InputError with everything that cannot be read. */
export function readDisturbances(options: DisturbanceOptions): SettleOptions {
  const issues: Issue[] = [];
  const slowDevices = (options.slow ?? []).flatMap((text) => {
    const [, device, percent] = /^(\d+)=(\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
    if (device !== undefined && percent !== undefined) {
      return [{ device: Number(device), seconds: 1 + Number(percent) / 100 }];
    }
    issues.push(unreadable('--slow', text, 'a device and percent', 'Write DEVICE=PERCENT, as in 5=20.'));
    return [];
  });
  const links = (options.link ?? []).flatMap((text) => {
    const fault = linkFault(text);
    if (fault !== undefined) return [fault];
    const hint = `Write KIND:INDEX=SHARE with a share above 0 and up to 1, or gone; kinds are ${families.join(', ')}.`;
    issues.push(unreadable('--link', text, 'a link and its share of speed', hint));
    return [];
  });
  const spread = numberOf('--jitter', options.jitter, issues);
  const seed = numberOf('--seed', options.seed, issues);
  if (options.alone === true && (slowDevices.length > 0 || links.length > 0 || spread !== undefined)) {
    issues.push(
      issue(
        'OPTIONS_CONFLICT',
        '--alone',
        'operations that run alone are not disturbed.',
        'Leave out --alone, or the rest.',
      ),
    );
  }
  if (issues.length > 0) throw new InputError(issues);
  return {
    alone: options.alone === true,
    slowDevices,
    links,
    ...(spread !== undefined && { jitter: { spread: spread / 100, seed: seed ?? 0 } }),
  };
}

function linkFault(text: string): LinkFault | undefined {
  const [, kind, index, share] = /^([a-z]+):(\d+)=(gone|\d*\.?\d+)$/.exec(text) ?? [];
  const family = families.find((each) => each === kind);
  const speed = share === 'gone' ? 0 : Number(share);
  if (family === undefined || (share !== 'gone' && !(speed > 0 && speed <= 1))) return undefined;
  return { family, index: Number(index), speed };
}

function numberOf(option: string, text: string | undefined, issues: Issue[]): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}(?:\.\d+)?%?$/.test(text)) return Number.parseFloat(text);
  issues.push(unreadable(option, text, 'a number from 0', 'Write a number, as in 2.'));
  return undefined;
}

const unreadable = (option: string, text: string, what: string, hint: string): Issue =>
  issue('VALUE_UNKNOWN', option, `${quote(text)} is not ${what}.`, hint);
