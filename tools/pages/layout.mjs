/** @file docs/reference/layout.md: the keys of a layout, and what each framework calls them. */
import { cell, code, table } from './markdown.mjs';

const takes = (key) =>
  key.names?.join(', ') ??
  {
    count: `whole number from ${key.min ?? 0}`,
    real: 'number above 0',
    switch: 'on, off',
    counts: 'whole numbers joined by -',
    axes: 'axes joined by -',
    overrides: 'rows such as 0-9:full joined by +, or a list of {from, to, recompute}',
  }[key.type];

/** The page, from the layout and frameworks rooms. */
export function layoutPage({ layoutKeys, laterLayoutKeys, keyNameOf, keyNameSources, launchFrameworks, rankOrders }) {
  const name = (framework, key) => {
    const found = keyNameOf(framework, key);
    if (found.kind === 'none') return '-';
    if (found.kind === 'always') return `always: ${cell(found.says)}`;
    return found.note === undefined ? code(found.name) : `${code(found.name)} (${cell(found.note)})`;
  };
  const keys = [...layoutKeys, ...laterLayoutKeys].map((each) => each.name);
  return [
    '# Keys of a layout',
    '',
    'What a job file may say under `layout`, in short form `tp=8,pp=4,dp=2`. `plan` searches over keys that are left out; `show`, `run`',
    'and `program` take the default. Generated from `packages/core/src/layout/keys.ts` and `frameworks/key-names.ts` by',
    '`node tools/generate-docs.mjs`.',
    '',
    ...table(
      ['Key', 'Short', 'Values', 'Default', 'Meaning'],
      layoutKeys.map((key) => [
        code(key.name),
        code([key.short, ...key.aliases].join(', ')),
        takes(key),
        key.fallback,
        key.meaning,
      ]),
    ),
    '',
    'Keys that may be written already, at their default only:',
    '',
    ...table(
      ['Key', 'Short', 'Accepted', 'Meaning'],
      laterLayoutKeys.map((key) => [code(key.name), code(key.short), key.accepts.join(', ') || '-', key.meaning]),
    ),
    '',
    '## What frameworks call them',
    '',
    '`-`: the framework does not have it; *always*: it does so and has no key.',
    '',
    ...table(
      ['Key', ...launchFrameworks],
      keys.map((key) => [code(key), ...launchFrameworks.map((each) => name(each, key))]),
    ),
    '',
    'Read in:',
    '',
    ...launchFrameworks.map((each) => `- ${each}: ${keyNameSources[each]}.`),
    '',
    '## Orders of ranks',
    '',
    'Axes from the fastest to the slowest: neighbours in rank differ in the first.',
    '',
    ...table(
      ['Framework', 'Orders', 'Source'],
      launchFrameworks.map((each) => [each, rankOrders[each].orders.map(code).join(', '), rankOrders[each].source]),
    ),
    '',
  ].join('\n');
}
