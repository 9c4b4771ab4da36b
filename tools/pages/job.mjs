/** @file docs/reference/job.md: the keys of a job file, from its schema. */
import { code, table } from './markdown.mjs';

const takes = (schema) => {
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(takes))].join(' or ');
  if (schema.type === 'object') return 'a mapping';
  if (schema.type === 'integer') return 'a whole number';
  if (schema.type === 'number') return 'a number';
  if (schema.pattern?.includes('\\d')) return 'a size such as `8Mi`';
  return 'text';
};

/** Keys whose values are long lists elsewhere. */
const elsewhere = {
  model: 'a preset, the path of a `config.json`, or a mapping of dimensions',
  cluster: 'text such as `8x dgx-h100`, a path or a mapping: [clusters](clusters.md)',
  layout: '`auto`, text such as `tp=8,pp=4`, or a mapping: [layout](layout.md)',
};

const shown = (value) => (value === undefined ? '-' : typeof value === 'object' ? '-' : code(String(value)));

/** The page, from the io and job rooms. */
export function jobPage({ jobSchema, jobDefaults }) {
  const schema = jobSchema();
  const required = (of, key) => (of.required?.includes(key) ? 'yes' : 'no');
  const rows = Object.entries(schema.properties).flatMap(([key, each]) => {
    const own = [
      code(key),
      elsewhere[key] ?? takes(each),
      required(schema, key),
      shown(jobDefaults[key]),
      each.description ?? '',
    ];
    const inner = key in elsewhere || each.type !== 'object' ? [] : Object.entries(each.properties ?? {});
    return [
      own,
      ...inner.map(([name, part]) => [
        code(`${key}.${name}`),
        takes(part),
        required(each, name),
        shown(jobDefaults[key]?.[name]),
        part.description ?? '',
      ]),
    ];
  });
  return [
    '# Keys of a job file',
    '',
    'YAML or JSON. Generated from the schema of `packages/core/src/io/job-schema.ts` by `node tools/generate-docs.mjs`; numbers take',
    '`k`, `M`, `G` as powers of ten and `Ki`, `Mi`, `Gi` as powers of two.',
    '',
    ...table(['Key', 'Takes', 'Required', 'Default', 'Meaning'], rows),
    '',
  ].join('\n');
}
