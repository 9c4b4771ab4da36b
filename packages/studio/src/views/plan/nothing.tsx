/** @file When no layout fits: the cheapest ways out, as buttons. */
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import { grouped } from '../../parts/numbers.ts';
import type { Scenario } from '../../scenario/scenario.ts';

export function Nothing({ store }: { readonly store: Store }): VNode {
  const { scenario } = store.place.value;
  return (
    <section class="nothing" aria-label="Nothing fits">
      <h2>Nothing fits</h2>
      <p>What would make it fit:</p>
      <div class="actions">
        {relaxations(scenario).map(({ words, change }) => (
          <button key={words} type="button" onClick={() => store.edit(change)}>
            {words}
          </button>
        ))}
      </div>
    </section>
  );
}

function relaxations({
  nodes,
  length,
  layout,
}: Scenario): readonly { readonly words: string; readonly change: Partial<Scenario> }[] {
  const fixed = Object.values(layout).some((each) => each !== undefined);
  return [
    ...(fixed ? [{ words: 'Leave all layout keys open', change: { layout: {} } }] : []),
    { words: `${nodes * 2} hosts instead of ${nodes}`, change: { nodes: nodes * 2 } },
    ...(length > 256 && length % 2 === 0
      ? [{ words: `Sequences of ${grouped(length / 2)} tokens`, change: { length: length / 2 } }]
      : []),
  ];
}
