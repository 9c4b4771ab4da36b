/** Lines of at most `width` characters, each after `indent`, broken between words. A longer word has a line of its own. */
export function wrap(text: string, width: number, indent = ''): readonly string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    const longer = line === indent ? `${indent}${word}` : `${line} ${word}`;
    if (longer.length > width && line !== indent) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}
