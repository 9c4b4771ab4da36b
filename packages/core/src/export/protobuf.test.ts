import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { createProtoWriter } from './protobuf.ts';
import { encodeUtf8 } from './utf8.ts';

const type = protobuf
  .parse('syntax = "proto3"; message M { uint64 a = 1; fixed64 b = 2; string c = 300; M d = 4; }')
  .root.lookupType('M');

interface Message {
  readonly a: number;
  readonly b: number;
  readonly c: string;
  readonly d?: Message | undefined;
}

const message: fc.Arbitrary<Message> = fc.letrec<{ message: Message }>((tie) => ({
  message: fc.record({
    a: fc.maxSafeNat(),
    b: fc.maxSafeNat(),
    c: fc.oneof(fc.string(), fc.string({ minLength: 100, maxLength: 20_000, unit: 'binary' })),
    d: fc.option(tie('message'), { nil: undefined, maxDepth: 3 }),
  }),
})).message;

/** Numbers 0 and empty texts are what a field has when it is left out. */
const withoutDefaults = ({ a, b, c, d }: Message): object => ({
  ...(a > 0 && { a }),
  ...(b > 0 && { b }),
  ...(c !== '' && { c }),
  ...(d && { d: withoutDefaults(d) }),
});

describe('the writer of protocol buffers', () => {
  it('is read by another decoder', () => {
    fc.assert(
      fc.property(message, (given) => {
        const writer = createProtoWriter();
        const write = ({ a, b, c, d }: Message): void => {
          writer.uint(1, a);
          writer.fixed64(2, b);
          writer.string(300, c);
          if (d === undefined) return;
          const mark = writer.open(4);
          write(d);
          writer.close(mark);
        };
        write(given);
        const read = type.toObject(type.decode(writer.take()), { longs: Number, defaults: false });
        expect(read).toEqual(withoutDefaults(given));
        expect(writer.length).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('writes text as other encoders do', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect([...encodeUtf8(text)]).toEqual([...new TextEncoder().encode(text)]);
      }),
    );
    expect([...encodeUtf8('\ud800a')]).toEqual([...new TextEncoder().encode('\ud800a')]);
  });
});
