/** @file Cuts excerpts from the text of a program, for pages that teach one. A fenced block of a page says what it shows:
 *
 *   ```program header                          the first lines
 *   ```program buffers x n1                    rows of the table of buffers
 *   ```program template F.layer                a template
 *   ```program views P0 b0 qkv.w               rows of a bucket of a list
 *   ```program list-buffers P0 W.b0            rows of the buffers of a list
 *   ```program list P0 1-14                    lines of a list */

const fence = /^```program (.+)\n(?:[^`][^\n]*\n)*```$/gm;

/** The page with every block filled from the text of the program. */
export const fillExcerpts = (page, program) =>
  page.replace(fence, (_, what) => ['```program ' + what, ...excerpt(program, what), '```'].join('\n'));

/** The lines of every block of a page. */
export const excerptsOf = (page) =>
  [...page.matchAll(fence)].map(([block, what]) => ({ what, lines: block.split('\n').slice(1, -1) }));

function excerpt(program, what) {
  const [kind, ...words] = what.split(' ');
  const sections = program.split('\n\n').map((section) => section.trimEnd().split('\n'));
  const section = (start) =>
    required(
      sections.find(([first]) => `${first} `.startsWith(`${start} `)),
      what,
    );
  switch (kind) {
    case 'header':
      return section('program');
    case 'buffers':
      return rows(section('buffers'), words);
    case 'template':
      return section(`template ${words[0]}`);
    case 'views':
      return rows(part(section(`list ${words[0]}`), `bucket ${words[1]}`), words.slice(2), '# view');
    case 'list-buffers':
      return rows(part(section(`list ${words[0]}`), 'buffers'), words.slice(1));
    case 'list':
      return numbered(part(section(`list ${words[0]}`), 'lines'), words[1]);
    default:
      throw new Error(`No kind of excerpt: ${kind}.`);
  }
}

/** A heading inside a list and the rows that are indented deeper. */
function part(lines, heading) {
  const start = lines.findIndex((line) => `${line} `.startsWith(`  ${heading} `));
  const end = lines.findIndex((line, index) => index > start && /^ {2}\S/.test(line));
  return start < 0 ? [] : lines.slice(start, end < 0 ? undefined : end);
}

/** The heading and the rows of the given names, in the order of the text. */
function rows(lines, names, ...also) {
  const wanted = (line) => {
    const name = line.trim().replace(/(<l>)?(\[[lu,]+\])? .*$/, '');
    return names.includes(name) || also.some((each) => line.trim().startsWith(each));
  };
  const found = lines.slice(1).filter(wanted);
  if (found.length !== names.length + also.length) throw new Error(`Not all of ${names.join(', ')} are there.`);
  return [lines[0], ...found];
}

function numbered(lines, range) {
  const [from, to] = range.split('-').map(Number);
  return lines.filter((line) => {
    const number = Number(/^ +(\d+) /.exec(line)?.[1]);
    return number >= from && number <= to;
  });
}

function required(value, what) {
  if (value === undefined) throw new Error(`The program has no ${what}.`);
  return value;
}
