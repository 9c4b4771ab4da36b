import { describe, expect, it } from 'vitest';
import { unpickle } from './pickle.fixture.ts';
import { createPickleWriter, PickleOnce, PickleTuple, type PickleValue } from './pickle.ts';

function pickled(value: PickleValue): Uint8Array {
  const writer = createPickleWriter();
  writer.value(value);
  writer.stop();
  return writer.take();
}

describe('pickles', () => {
  it('come back as they were', () => {
    const value = {
      none: null,
      flags: [true, false],
      numbers: [0, 255, 256, 65_535, 65_536, -1, -(2 ** 31), 2 ** 31, 2 ** 40 + 3, -(2 ** 40), 0.5, -1e300],
      texts: ['', 'a', '\u00e9\u20ac\u{1f600}', 'a', 'a'.repeat(300)],
      empty: [{}, []],
    };
    expect(unpickle(pickled(value))).toEqual(value);
  });

  it('writes tuples, and values that come again only once', () => {
    const once = new PickleOnce({ name: 'a sentence that is written once' });
    const bytes = pickled([new PickleTuple(1, 'two'), once, once]);
    expect(unpickle(bytes)).toEqual([
      [1, 'two'],
      { name: 'a sentence that is written once' },
      { name: 'a sentence that is written once' },
    ]);
    expect(new TextDecoder().decode(bytes).split('a sentence').length).toBe(2);
  });

  it('writes long lists in pieces', () => {
    const writer = createPickleWriter();
    writer.openDictionary();
    writer.value('items');
    writer.openList();
    for (let item = 0; item < 2500; item++) {
      if (item % 1000 === 0) writer.nextItems();
      writer.value(item);
    }
    writer.closeList();
    writer.closeDictionary();
    writer.stop();
    expect(unpickle(writer.take())).toEqual({ items: Array.from({ length: 2500 }, (_, item) => item) });
  });
});
