import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** A run that ends when the test says so. */
function longRun(name: string, log: string[]): { readonly run: () => Promise<void>; end(): void } {
  let end = (): void => undefined;
  const run = (): Promise<void> => {
    log.push(`${name} begins`);
    return new Promise((resolve) => {
      end = () => {
        log.push(`${name} ends`);
        resolve();
      };
    });
  };
  return { run, end: () => end() };
}

describe('turns', () => {
  it('begin behind the end of a run that was stopped', async () => {
    const log: string[] = [];
    const turns = createTurns();
    const [first, second] = [longRun('first', log), longRun('second', log)];
    const stopped = new AbortController();
    const one = turns.take('page', stopped, first.run);
    stopped.abort();
    const other = turns.take('another page', new AbortController(), second.run);
    expect(log).toEqual(['first begins']);
    first.end();
    expect(await one).toBe(true);
    second.end();
    expect(await other).toBe(true);
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  it('of a page end its run before, and leave those of other pages alone', async () => {
    const log: string[] = [];
    const turns = createTurns();
    const [first, second] = [longRun('first', log), longRun('second', log)];
    const gone = new AbortController();
    const one = turns.take('page', gone, first.run);
    expect(await turns.take('another page', new AbortController(), second.run)).toBe(false);
    expect(await turns.take(undefined, new AbortController(), second.run)).toBe(false);
    expect(gone.signal.aborted).toBe(false);
    const next = turns.take('page', new AbortController(), second.run);
    expect(gone.signal.aborted).toBe(true);
    first.end();
    await one;
    second.end();
    expect(await next).toBe(true);
  });

  it('are taken by one of those who wait, and not by one who has gone away', async () => {
    const log: string[] = [];
    const turns = createTurns();
    const runs = ['first', 'second', 'third', 'fourth'].map((name) => longRun(name, log));
    const [stopped, impatient] = [new AbortController(), new AbortController()];
    const take = (index: number, gone = new AbortController()): Promise<boolean> =>
      turns.take(`page ${index}`, gone, runs[index]?.run ?? Promise.resolve);
    const one = take(0, stopped);
    stopped.abort();
    const others = [take(1, impatient), take(2), take(3)];
    impatient.abort();
    runs[0]?.end();
    expect([await one, await others[0], await others[2]]).toEqual([true, true, false]);
    runs[2]?.end();
    expect(await others[1]).toBe(true);
    expect(log).toEqual(['first begins', 'first ends', 'third begins', 'third ends']);
  });
});
