/** @file Pages that show output of the command say what the command says. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runIn } from '../../packages/cli/src/host.fixture.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const page = read('docs/guide/choosing-a-layout.md');
const block = /<!-- begin: meshwright (\S+) (\S+) -->\n```text\n([\s\S]*?)```\n<!-- end -->/g;
const blocks = [...page.matchAll(block)].map(([, command = '', job = '', text = '']) => ({ command, job, text }));

describe('the guide to choosing a layout', () => {
  it('shows two jobs', () => {
    expect(blocks.map(({ command, job }) => `${command} ${job}`)).toEqual([
      'explain examples/llama-2-7b-8xh100.yaml',
      'explain examples/llama-3.1-70b-64xh100.yaml',
    ]);
  });

  it.each(blocks)(
    'says what $command $job says (else: node tools/readme.mjs)',
    async ({ command, job, text }) => {
      const { out } = await runIn([command, job], { files: { [job]: read(job) } });
      expect(text).toBe(out);
    },
    120_000,
  );

  it('tells numbers that its outputs show', () => {
    const shown = blocks.map(({ text }) => text).join('\n');
    expect(shown).toContain('16 Psi = 16 x 6.74 B = 107.8 GB');
    expect(shown).toContain('16 Psi / N = 16 x 70.6 B / 64 = 17.6 GB');
    expect(shown).toMatch(/ZeRO-3 \(FSDP\) needs [^]*fits only\s+with recomputation/);
  });
});
