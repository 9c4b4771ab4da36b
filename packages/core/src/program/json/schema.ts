/** @file The shape of a program as a JSON Schema (draft 2020-12). */
import { programShape } from './program-shape.ts';
import type { NumberShape, ObjectShape, Shape, UnionShape } from './shape.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [key: string]: unknown };

/** The published schema of `meshwright.program/1`. References between names are checked by `programFromJson` only. */
export function programJsonSchema(): JsonSchema {
  const definitions = new Map<string, JsonSchema>();
  const root = objectSchema(programShape, definitions);
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'meshwright.program/1',
    ...root,
    $defs: Object.fromEntries(sorted),
  };
}

type Definitions = Map<string, JsonSchema>;

function schemaOf(shape: Shape, definitions: Definitions): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'scalar':
      return { type: ['number', 'string'] };
    case 'truth':
      return { type: 'boolean' };
    case 'constant':
      return { const: shape.value };
    case 'number':
      return numberSchema(shape);
    case 'name':
      return { enum: shape.values };
    case 'list':
      return {
        type: 'array',
        items: schemaOf(shape.of, definitions),
        ...(shape.atLeast > 0 && { minItems: shape.atLeast }),
      };
    case 'record':
      return { type: 'object', additionalProperties: schemaOf(shape.of, definitions), minProperties: 1 };
    case 'object':
    case 'union':
      return reference(shape, definitions);
  }
}

function reference(shape: ObjectShape | UnionShape, definitions: Definitions): JsonSchema {
  if (!definitions.has(shape.name)) {
    const schema = shape.kind === 'object' ? objectSchema(shape, definitions) : unionSchema(shape, definitions);
    definitions.set(shape.name, schema);
  }
  return { $ref: `#/$defs/${shape.name}` };
}

const unionSchema = (shape: UnionShape, definitions: Definitions): JsonSchema => ({
  oneOf: Object.values(shape.variants).map((variant) => reference(variant, definitions)),
});

function objectSchema(shape: ObjectShape, definitions: Definitions): JsonSchema {
  const fields = Object.entries(shape.fields);
  return {
    description: shape.about,
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([key, field]) => [key, { description: field.about, ...schemaOf(field.shape, definitions) }]),
    ),
    required: fields.filter(([, field]) => !field.optional).map(([key]) => key),
    additionalProperties: false,
  };
}

const numberSchema = ({ integer, minimum, maximum, above }: NumberShape): JsonSchema => ({
  type: integer ? 'integer' : 'number',
  ...(above === true ? { exclusiveMinimum: minimum } : { minimum }),
  ...(maximum < (integer ? Number.MAX_SAFE_INTEGER : 1e300) && { maximum }),
});
