/** @file A small language for the shape of JSON values. One table (`program-shape.ts`) written in it is read twice: to
 * check a value of unknown origin (`read-shape.ts`) and to publish a JSON Schema (`schema.ts`), so the two agree.
 */

export interface TextShape {
  readonly kind: 'text';
}

/** A number, or a string: attributes of kernels. */
export interface ScalarShape {
  readonly kind: 'scalar';
}

export interface NumberShape {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum: number;
  readonly maximum: number;
  /** The minimum itself is not allowed. */
  readonly above?: true;
}

/** One of a closed set of names; `what` names the set in messages ("kernel"). */
export interface NameShape {
  readonly kind: 'name';
  readonly what: string;
  readonly values: readonly string[];
}

export interface TruthShape {
  readonly kind: 'truth';
}

/** A value that can only be this one. */
export interface ConstantShape {
  readonly kind: 'constant';
  readonly value: string | boolean;
}

export interface ListShape {
  readonly kind: 'list';
  readonly of: Shape;
  readonly atLeast: number;
}

/** Any keys, values of one shape; an empty one is left out instead. */
export interface RecordShape {
  readonly kind: 'record';
  readonly of: Shape;
}

export interface Field {
  readonly shape: Shape;
  readonly optional: boolean;
  /** What the field means, in one sentence, for readers of the schema. */
  readonly about: string;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** Key under `$defs` of the schema. */
  readonly name: string;
  readonly about: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** A union told apart by the value of `kind`. */
export interface UnionShape {
  readonly kind: 'union';
  readonly name: string;
  readonly variants: Readonly<Record<string, ObjectShape>>;
}

export type Shape =
  | TextShape
  | ScalarShape
  | NumberShape
  | NameShape
  | TruthShape
  | ConstantShape
  | ListShape
  | RecordShape
  | ObjectShape
  | UnionShape;

export const text: TextShape = { kind: 'text' };
export const scalar: ScalarShape = { kind: 'scalar' };
export const truth: TruthShape = { kind: 'truth' };
export const yes: ConstantShape = { kind: 'constant', value: true };

/** A whole number from `minimum` to `maximum`. */
export const whole = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): NumberShape => ({
  kind: 'number',
  integer: true,
  minimum,
  maximum,
});

export const listOf = (of: Shape, atLeast = 0): ListShape => ({ kind: 'list', of, atLeast });
export const recordOf = (of: Shape): RecordShape => ({ kind: 'record', of });
export const field = (shape: Shape, about: string): Field => ({ shape, about, optional: false });
export const optional = (shape: Shape, about: string): Field => ({ shape, about, optional: true });

/** One of the keys of `names`, which the compiler checks to be all members of a union. */
export const oneOf = <Name extends string>(what: string, names: Readonly<Record<Name, true>>): NameShape => ({
  kind: 'name',
  what,
  values: Object.keys(names),
});
