import { describe, expect, it } from 'vitest';
import { runIn } from './host.fixture.ts';

describe('running the command', () => {
  it('prints its help when it is given nothing', async () => {
    const { code, out, err } = await runIn([]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: meshwright/);
  });

  it('guesses what an unknown command was meant to be', async () => {
    const { code, out, err } = await runIn(['modle']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe("KEY_UNKNOWN  arguments: unknown command 'modle'. Did you mean model?\n");
  });

  it('answers wrong arguments in JSON where JSON is asked for', async () => {
    const { code, out, err } = await runIn(['model', 'gpt2', '--json', '--lenght', '8']);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toEqual({
      schema: 'meshwright.error/1',
      issues: [
        {
          code: 'KEY_UNKNOWN',
          severity: 'error',
          path: 'arguments',
          message: "unknown option '--lenght'.",
          hint: 'Did you mean --length?',
        },
      ],
    });
  });

  it('says why a file cannot be read', async () => {
    const { code, err } = await runIn(['model', 'models/config.json']);
    expect(code).toBe(2);
    expect(err).toBe('FILE_NOT_FOUND  "models/config.json" does not exist. Check the path.\n');
  });

  it('shows the line and a caret for what is wrong in a file', async () => {
    const config = '{\n  "architectures": ["LlamaForCausalLM"],\n  "hidden_size": "wide"\n}\n';
    const { code, err } = await runIn(['model', 'x/config.json'], { files: { 'x/config.json': config } });
    expect(code).toBe(2);
    expect(err).toContain('x/config.json:3:18  VALUE_WRONG_TYPE');
    expect(err).toContain('      "hidden_size": "wide"\n                     ^\n');
  });

  it('paints for a terminal, and not where NO_COLOR is set', async () => {
    const painted = await runIn(['model', 'gpt2'], { terminal: true });
    expect(painted.out.startsWith('\u001b[1mgpt2')).toBe(true);
    const plain = await runIn(['model', 'gpt2'], { terminal: true, environment: { NO_COLOR: '1' } });
    expect(plain.out).not.toContain('\u001b');
  });
});
