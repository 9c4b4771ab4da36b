/** @file Finding a command by a few letters. */

/** Something that can be done now. */
export interface Command {
  readonly words: string;
  run(): void;
}

/** Commands that hold all words of `typed`, those that begin with it first. */
export function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = commands.filter(({ words }) => wanted.every((word) => words.toLowerCase().includes(word)));
  const begins = ({ words }: Command): number => (words.toLowerCase().startsWith(typed.toLowerCase()) ? 0 : 1);
  return found.toSorted((one, other) => begins(one) - begins(other));
}
