import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkSetup, type FrameworkName, type FrameworkSetup } from '../../packages/core/src/frameworks/index.ts';
import { parseCsv } from '../../packages/core/src/score/csv.ts';

/** Launches of public repositories: what each states of model, ranks and batch, and what its own framework refuses of it.
 * Blank is not stated. */
const { rows, ragged } = parseCsv(readFileSync(new URL('../fixtures/launches.csv', import.meta.url), 'utf8'));

const words = new Set(['schedule', 'precision', 'gradientType']);

function valueOf(key: string, text: string): unknown {
  if (text === 'on' || text === 'true') return true;
  if (text === 'off' || text === 'false') return false;
  if (key === 'layersPerStage') return text.split('-').map(Number);
  if (key === 'contextLevels') return text.split('x').map(Number);
  return words.has(key) ? text : Number(text);
}

function setupOf(cells: Readonly<Record<string, string>>): FrameworkSetup {
  const { launch, source, framework, refused, switches = '', ...stated } = cells;
  const known = Object.entries(stated).filter(([, text]) => text !== '');
  const own = switches.split(' ').filter((each) => each !== '');
  return {
    ...Object.fromEntries(known.map(([key, text]) => [key, valueOf(key, text)])),
    switches: Object.fromEntries(
      own.map((each) => {
        const [key = '', text = ''] = each.split(':');
        return [key, valueOf(key, text)];
      }),
    ),
  } as FrameworkSetup;
}

describe('launches of public repositories', () => {
  it('are many, of every framework, with a source each', () => {
    expect(ragged).toEqual([]);
    expect(rows.length).toBe(80);
    const frameworks = new Set(rows.map(({ cells }) => cells['framework']));
    expect([...frameworks].sort()).toEqual(['deepspeed', 'fsdp', 'megatron', 'nanotron', 'nemo', 'torchtitan']);
    for (const { cells } of rows) expect(cells['source'], cells['launch']).toMatch(/[\w.-]+\/[\w.-]+: /);
  });
  it.each(rows.map(({ cells }) => [cells['launch'] ?? '', cells] as const))(
    '%s has the verdict of its framework',
    (_name, cells) => {
      const issues = checkSetup(cells['framework'] as FrameworkName, setupOf(cells));
      expect(issues.map(({ code }) => code)).toEqual((cells['refused'] ?? '').split(' ').filter((each) => each !== ''));
    },
  );
});
