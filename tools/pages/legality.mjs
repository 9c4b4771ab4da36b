/** @file docs/reference/legality.md: what every program must hold, and what single frameworks refuse. */
import { code, table } from './markdown.mjs';

const link = (name) => `[\`${name}\`](errors.md#${name})`;

/** The page, from the layout and frameworks rooms. */
export function legalityPage({ codes, layoutRules, frameworkRules }) {
  const common = layoutRules.map((rule) => [link(rule.code), code(rule.key), codes[rule.code].meaning, rule.source]);
  const own = frameworkRules.map((rule) => [
    link(rule.code),
    rule.frameworks.join(', '),
    codes[rule.code].meaning,
    rule.source,
  ]);
  return [
    '# What makes a layout legal',
    '',
    'A layout is held to the rules of every program first, then to those of the framework that the job names. All that is wrong is said',
    'at once, each with both values and the nearest legal ones. Generated from `packages/core/src/layout/rules` and `frameworks/rules`',
    'by `node tools/generate-docs.mjs`.',
    '',
    '## Every program',
    '',
    ...table(['Code', 'Key', 'What is wrong', 'Who else says so'], common),
    '',
    '## Single frameworks',
    '',
    'Their own arithmetic at launch. Rules that read a switch of the framework are asked where the switch is known.',
    '',
    ...table(['Code', 'Frameworks', 'What is wrong', 'Where the framework says so'], own),
    '',
  ].join('\n');
}
