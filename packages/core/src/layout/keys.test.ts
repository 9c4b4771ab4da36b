import { describe, expect, it } from 'vitest';
import { keyNameOf, keyNameSources, launchFrameworks, namedKeys, rankOrders } from '../frameworks/index.ts';
import { axisShortNames, laterLayoutKeys, layoutKeys } from './keys.ts';

const all = [...layoutKeys, ...laterLayoutKeys].map(({ name }) => String(name));

describe('names of layout keys', () => {
  it('have a row for every key and no other', () => {
    expect(namedKeys.toSorted()).toEqual(all.toSorted());
  });
  it.each(all)('%s has its name, or what stands for it, in every framework', (name) => {
    for (const framework of launchFrameworks) {
      const found = keyNameOf(framework, name);
      expect(found, framework).toBeDefined();
      if (found?.kind === 'key') expect(found.name.trim().length).toBeGreaterThan(1);
      if (found?.kind === 'always') expect(found.says.length).toBeGreaterThan(0);
    }
  });
  it('are distinct within a framework, but for keys that say two things', () => {
    for (const framework of launchFrameworks) {
      const names = all.flatMap((name) => {
        const found = keyNameOf(framework, name);
        return found?.kind === 'key' ? [found.name] : [];
      });
      const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
      expect(twice.length, `${framework}: ${twice.join()}`).toBeLessThanOrEqual(1);
    }
  });
  it('have a source for each framework, and its orders of ranks', () => {
    for (const framework of launchFrameworks) {
      expect(keyNameSources[framework].length).toBeGreaterThan(10);
      expect(rankOrders[framework].orders.length).toBeGreaterThan(0);
      expect(rankOrders[framework].source.length).toBeGreaterThan(10);
    }
  });
  it('say the default order of ranks as the profile has it, where the framework has our axes', () => {
    expect(rankOrders.megatron.orders[0]).toBe(
      (['tensor', 'context', 'expert', 'data', 'pipeline'] as const).map((axis) => axisShortNames[axis]).join('-'),
    );
  });
});
