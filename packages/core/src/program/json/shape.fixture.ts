import fc from 'fast-check';
import type { Program } from '../types.ts';
import { programShape } from './program-shape.ts';
import type { Shape } from './shape.ts';

/** Names as people and compilers write them, and names that nobody should. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[A-Za-z_][\w.-]{0,6}(@\d)?(\[\d(,\d)?\])?$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'needs',
      'why',
      'list',
      'none',
      '2',
      '"',
      '->',
      'a b',
      'x[u]',
      '#1',
      '+=',
      'a=b',
      'a:b',
      'a/b',
      '\\',
      '\u2028',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }) },
);

/** Any value of a shape. */
function valueOf(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'text':
      return name;
    case 'scalar':
      return fc.oneof(name, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom('', '1', '1/2', '-'));
    case 'truth':
      return fc.boolean();
    case 'constant':
      return fc.constant(shape.value);
    case 'name':
      return fc.constantFrom(...shape.values);
    case 'number': {
      const { integer, minimum, maximum, above } = shape;
      if (integer)
        return fc.oneof(
          fc.integer({ min: minimum, max: minimum + 9 }),
          fc.maxSafeNat().map((n) => minimum + (n % (maximum - minimum + 1))),
        );
      return fc.oneof(
        fc.constant(1),
        fc.double({ min: minimum, max: maximum, noNaN: true, minExcluded: above ?? false }),
      );
    }
    case 'list':
      return fc.array(valueOf(shape.of), { minLength: shape.atLeast, maxLength: 3 });
    case 'record':
      return fc.dictionary(
        name.filter((key) => key !== '__proto__'),
        valueOf(shape.of),
        { minKeys: 1, maxKeys: 3, noNullPrototype: true },
      );
    case 'object': {
      const fields = Object.entries(shape.fields);
      return fc.record(Object.fromEntries(fields.map(([key, field]) => [key, valueOf(field.shape)])), {
        requiredKeys: fields.filter(([, field]) => !field.optional).map(([key]) => key),
        noNullPrototype: true,
      });
    }
    case 'union':
      return fc.oneof(...Object.values(shape.variants).map(valueOf));
  }
}

/** Any value that has the shape of a program; its names lead nowhere, its lines are numbered in order. */
export const shapedProgram: fc.Arbitrary<Program> = (valueOf(programShape) as fc.Arbitrary<Program>).map((program) => ({
  ...program,
  lists: program.lists.map((list) => ({
    ...list,
    items: list.items.map((item, index) => ({ ...item, id: index + 1 })),
  })),
}));
