import { plantFault } from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';
import { runIn } from '../host.fixture.ts';
import { toyJob } from './job.fixture.ts';

const files = { 'job.yaml': toyJob };

describe('meshwright program', () => {
  it('prints what verify and print can read again, as text and as JSON', async () => {
    for (const form of [[], ['--json']]) {
      const printed = await runIn(['program', 'print', 'job.yaml', ...form], { files });
      expect(printed.code).toBe(0);
      const again = await runIn(['program', 'print', '-', ...form], { files: { '-': printed.out } });
      expect(again.out).toBe(printed.out);
      const verified = await runIn(['program', 'verify', '-'], { files: { '-': printed.out } });
      expect(verified).toMatchObject({ code: 0, err: '' });
      expect(verified.out).toMatch(/^verified: toy: 2 lists of \d+ lines, .*, nothing is wrong\n/);
      expect(verified.out).toMatch(/bytes are sent in a step, all ranks together\.\n$/);
    }
  });

  it('does not ignore a layout for a program, and does not compare one with itself', async () => {
    const { out } = await runIn(['program', 'print', 'job.yaml'], { files });
    const given = await runIn(['program', 'verify', '-', '--layout', 'tp=2'], { files: { '-': out } });
    expect(given).toMatchObject({ code: 2, out: '' });
    expect(given.err).toContain('OPTIONS_CONTRADICT  --layout: "-" is a program, which has its layout already.');
    const alone = await runIn(['program', 'diff', 'job.yaml'], { files });
    expect(alone).toMatchObject({ code: 2, out: '' });
    expect(alone.err).toContain('KEY_MISSING  OTHER: there is nothing to compare with.');
  });

  it('counts faults beyond the first forty', async () => {
    const { out } = await runIn(['program', 'print', 'job.yaml'], { files });
    const broken = out.replaceAll('gemm', 'gmem');
    const { code, err } = await runIn(['program', 'verify', '-'], {
      files: { '-': `${broken}\n${'nonsense\n'.repeat(60)}` },
    });
    expect(code).toBe(2);
    expect(err).toMatch(/\nand [\d,]+ more: [\d,]+ [A-Z_]+/);
  });

  it('prints one list alone, and guesses a name', async () => {
    const one = await runIn(['program', 'print', 'job.yaml', '--list', 'P1'], { files });
    expect(one.out).toContain('list P1 ');
    expect(one.out).not.toContain('list P0 ');
    const wrong = await runIn(['program', 'print', 'job.yaml', '--list', 'P7'], { files });
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('Did you mean P0?');
  });

  it('ends with 1 on a program that breaks a law', async () => {
    const { out } = await runIn(['program', 'print', 'job.yaml', '--json'], { files });
    const broken = plantFault(JSON.parse(out), 'tied-not-summed');
    const { code, out: answer } = await runIn(['program', 'verify', '-', '--json'], {
      files: { '-': JSON.stringify(broken) },
    });
    expect(code).toBe(1);
    expect(JSON.parse(answer)).toMatchObject({ schema: 'meshwright.verify/1', ok: false });
  });

  it('tells two layouts of one job apart, and one from itself not', async () => {
    const other = await runIn(['program', 'diff', 'job.yaml', '--against', 'zero=0'], { files });
    expect(other.code).toBe(0);
    expect(other.out).toMatch(/^\d+ sections differ: \d+ lines removed, \d+ lines added\n/);
    const same = await runIn(['program', 'diff', 'job.yaml', '--against', 'zero=1'], { files });
    expect(same.out).toBe('the programs are equal\n');
    const json = await runIn(['program', 'diff', 'job.yaml', 'job.yaml', '--json'], { files });
    expect(JSON.parse(json.out)).toEqual({ schema: 'meshwright.diff/1', equal: true, sections: [] });
  });

  it('explains itself when no subcommand is named', async () => {
    const { code, out, err } = await runIn(['program']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^Usage: meshwright program/);
  });
});
