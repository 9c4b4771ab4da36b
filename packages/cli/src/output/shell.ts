/** A command that a shell reads as these words: what it would interpret stands in quotes. */
export const shellWords = (words: readonly string[]): string => words.map(quoted).join(' ');

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
