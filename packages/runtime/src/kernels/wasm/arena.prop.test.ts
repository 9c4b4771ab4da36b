import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createArena } from './arena.ts';

test('buffers never overlap, lie on lines of the cache, and what is given back is used again', () => {
  const step = fc.record({ bytes: fc.integer({ min: 0, max: 5000 }), releases: fc.boolean(), which: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const arena = createArena(1024, 1024 + 2 ** 20);
      const held: { start: number; end: number }[] = [];
      let most = 0;
      for (const { bytes, releases, which } of steps) {
        if (releases && held.length > 0) {
          const [gone] = held.splice(which % held.length, 1);
          arena.release(gone!.start);
          continue;
        }
        const start = arena.allocate(bytes);
        if (start === undefined) continue;
        expect(start % 64).toBe(0);
        expect(start).toBeGreaterThanOrEqual(1024);
        const end = start + Math.max(1, bytes);
        expect(held.every((each) => each.end <= start || end <= each.start)).toBe(true);
        held.push({ start, end });
        most = Math.max(most, start + bytes - 1024);
      }
      expect(arena.highWaterBytes()).toBe(most);
      for (const { start } of held) arena.release(start);
      expect(arena.allocate(2 ** 20)).toBe(1024);
    }),
  );
});

test('a full arena says so', () => {
  const arena = createArena(0, 256);
  expect([arena.allocate(100), arena.allocate(100), arena.allocate(1)]).toEqual([0, 128, undefined]);
});
