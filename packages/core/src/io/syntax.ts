import type { YAMLError } from 'yaml';

/** An error of the YAML parser in our words. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

interface Explanation {
  readonly pattern: RegExp;
  readonly message: string;
  readonly hint: string;
}

/** Messages of the parser that people meet, with what they mean; `$1` is what the pattern caught. */
const explanations: readonly Explanation[] = [
  { pattern: /^Missing closing .quote/, message: 'the quote that begins here is not closed.', hint: 'Close it.' },
  {
    pattern: /(?:must end with an? |sufficiently indented and end with an? )(.)/,
    message: 'a bracket that was opened before is not closed: $1 is missing.',
    hint: 'Add $1 where the list or mapping ends.',
  },
  {
    pattern: /^Nested mappings are not allowed in compact mappings/,
    message: 'a second key stands in the value of this one.',
    hint: 'Start a new line for it, or put the value in quotes.',
  },
  {
    pattern: /^All (?:mapping|sequence|collection) items must start at the same column/,
    message: 'the line is not indented like its neighbours.',
    hint: 'Start them in the same column.',
  },
  { pattern: /^Implicit keys need to be on a single line/, message: 'no colon follows the key.', hint: 'Add one.' },
  {
    pattern: /^Tabs are not allowed as indentation/,
    message: 'the line is indented with a tab.',
    hint: 'Indent with spaces.',
  },
  {
    pattern: /^Unresolved tag: (?:tag:yaml\.org,2002:)?(.{1,40})/,
    message: 'the tag $1 is not read here.',
    hint: 'Remove the tag.',
  },
  {
    pattern: /^Unexpected (\S+)/,
    message: 'something stands here that cannot follow what is before it ($1).',
    hint: 'Remove it, or put the text in quotes.',
  },
];

/** What an error of the parser means, where it begins, and what to do. */
export function explainSyntax(error: YAMLError, text: string): SyntaxProblem {
  const [first = ''] = error.message.split('\n');
  // The end of the file is the end of its last word: nobody sees a caret on an empty line.
  const offset = Math.min(error.pos[0], text.trimEnd().length);
  for (const { pattern, message, hint } of explanations) {
    const caught = pattern.exec(first);
    if (!caught) continue;
    const fill = (words: string): string => words.replace('$1', caught[1] ?? '');
    const at = error.code === 'MISSING_CHAR' && /quote/.test(first) ? openQuote(text, offset) : offset;
    return { offset: at, message: fill(message), hint: fill(hint) };
  }
  const message = `${first.charAt(0).toLowerCase()}${first.slice(1).replace(/\.$/, '')}.`;
  return { offset, message, hint: 'Correct the marked place.' };
}

/** Offset of the quote that is still open at `end`: the last one that follows a space or a bracket. */
function openQuote(text: string, end: number): number {
  for (let at = end - 1; at >= 0; at -= 1) {
    const before = text[at - 1] ?? ' ';
    if ((text[at] === '"' || text[at] === "'") && /[\s[{,:]/.test(before)) return at;
  }
  return end;
}
