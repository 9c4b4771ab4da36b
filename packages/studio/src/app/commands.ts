/** @file What the command palette offers: every view, row, lesson and page, and what can be done with the scenario. */
import { lessons } from '@meshwright/figures';
import { copyText } from '../parts/clipboard.ts';
import { addressOf, type View } from '../scenario/link.ts';
import { commandLine, neighbour } from '../scenario/scenario.ts';
import type { Command } from './matching.ts';
import type { Store } from './store.ts';

/** All commands of the page as it stands, in the order in which they are listed. */
export function commandsOf(
  store: Store,
  offered: readonly { readonly view: View; readonly name: string }[],
  showKeys: () => void,
): readonly Command[] {
  const { scenario } = store.place.value;
  const { nodes, sequences, length } = scenario;
  const copied = (text: string, said: string): void =>
    void copyText(text).then((copied) => void (store.notice.value = copied ? said : text));
  const edit = (key: 'nodes' | 'sequences' | 'length', words: string, now: number): readonly Command[] =>
    [true, false].map((up) => ({
      words: `${words}: ${neighbour(now, up)} instead of ${now}`,
      run: () => store.edit({ [key]: neighbour(now, up) }),
    }));
  return [
    ...offered.map(({ view, name }) => ({ words: `Open ${name}`, run: () => store.open(view) })),
    ...store.rows.value.map(({ short }, index) => ({
      words: `Select #${index + 1}: ${short}`,
      run: () => store.select(short),
    })),
    ...lessons.map(({ key, name }) => ({
      words: `Step through ${name}`,
      run: () => {
        store.step({ layout: key, frame: 0 });
        store.open('steps');
      },
    })),
    ...edit('nodes', 'Hosts', nodes),
    ...edit('sequences', 'Sequences of a step', sequences),
    ...edit('length', 'Tokens of a sequence', length),
    ...(store.canUndo.value ? [{ words: 'Undo the last edit', run: () => store.undo() }] : []),
    {
      words: 'Copy the link',
      run: () => void addressOf(store.place.value).then((link) => copied(link, 'Link copied.')),
    },
    ...(store.selected.value
      ? [
          {
            words: 'Copy the command of the selected layout',
            run: () => copied(commandLine(scenario, store.selected.value?.short ?? ''), 'Command copied.'),
          },
        ]
      : []),
    { words: 'Show the keys', run: showKeys },
  ];
}
