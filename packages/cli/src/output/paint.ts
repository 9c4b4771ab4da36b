import type { Host, Stream } from '../host.ts';

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39] } as const;
export type Paint = keyof typeof codes;

/** Whether a stream takes colours: a terminal, and nobody said no (`NO_COLOR`, `TERM=dumb`). */
function takesColour({ environment }: Host, stream: Stream): boolean {
  const { NO_COLOR: refused = '', TERM: terminal } = environment;
  return stream.isTerminal && refused === '' && terminal !== 'dumb';
}

/** `text` in a colour or weight where the stream takes it, plain elsewhere. */
export function paint(host: Host, stream: Stream, how: Paint, text: string): string {
  if (!takesColour(host, stream)) return text;
  const [on, off] = codes[how];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
