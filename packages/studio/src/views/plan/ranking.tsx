/** @file The ranked rows, with a bar of memory each. One row is selected everywhere; one may be pinned to compare with. */

import { memoryColour, memoryParts } from '@meshwright/figures';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import { Heads } from '../../parts/heads.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { gib, share, signed, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

export function Ranking({ store }: { readonly store: Store }): VNode {
  const rows = store.rows.value;
  const selected = store.selected.value;
  const pinned = rows.find(({ short }) => short === store.pinned.value);
  const more = extraAxes(rows);
  const narrow = useNarrow();
  const capacity = store.plans.value[0]?.memory.capacityBytes ?? store.quick.value?.capacityBytes ?? 1;
  return (
    <Scroll name="Ranked layouts">
      <table class={store.planning.value === 'bounds' && rows.length > 0 ? 'ranking stale' : 'ranking'}>
        <caption class="quiet">{captionOf(store)}</caption>
        <Heads
          columns={
            narrow
              ? [
                  '(Select)',
                  '#tp',
                  '#pp',
                  '#dp',
                  ...more.map((axis) => `#${short[axis]}`),
                  '#ZeRO',
                  '#step',
                  '#GiB',
                  '(Pin)',
                ]
              : [
                  '#',
                  '#tensor',
                  '#pipeline',
                  '#data',
                  ...more.map((axis) => `#${axis}`),
                  '#ZeRO',
                  '#step',
                  'memory of a GPU, GiB',
                  '#exposed',
                  'exact',
                  '(Choose)',
                ]
          }
        />
        <tbody>
          {rows.map((row, index) => (
            <RankRow
              more={more}
              narrow={narrow}
              key={row.short}
              store={store}
              row={row}
              rank={index + 1}
              capacity={capacity}
              selected={row === selected}
              pinned={pinned}
            />
          ))}
        </tbody>
      </table>
      {!narrow && <Legend />}
    </Scroll>
  );
}

/** What the colours of the bars are. */
const Legend = (): VNode => (
  <p class="legend quiet">
    {[...memoryParts.filter(([part]) => part !== 'logits'), ['reserve', 'reserve'] as const].map(([part, role]) => (
      <span key={part}>
        <svg width="10" height="10" aria-hidden="true">
          <rect width="10" height="10" fill={memoryColour(role)} />
        </svg>
        {part === 'buffers' ? ' logits, buffers' : ` ${part}`}
      </span>
    ))}
    <span>line: what can be allocated</span>
  </p>
);

/** How far the ranking is. */
function captionOf({ rows, planning, planned }: Store): string {
  const [first] = rows.value;
  if (first === undefined || planning.value === 'bounds') return 'Ranking layouts by their bounds.';
  if (first.state === 'bound') return 'Ranked by lower bounds; all layouts are being evaluated.';
  if (planned.value === undefined) return 'Evaluated: no layout that fits is faster. The rows are being simulated.';
  return 'Evaluated and simulated; no layout that fits is faster.';
}

/** Axes beside the usual three that some row splits. */
const extraAxes = (rows: readonly Row[]): readonly ('context' | 'expert')[] =>
  (['context', 'expert'] as const).filter((axis) => rows.some(({ layout }) => layout[axis] > 1));

/** Axes in the field's abbreviations, where room is short. */
const short = { context: 'cp', expert: 'ep' } as const;

interface RankRowProps {
  /** On a phone: the number of the row selects it, and what the other columns say is below the table. */
  readonly narrow: boolean;
  readonly more: readonly ('context' | 'expert')[];
  readonly store: Store;
  readonly row: Row;
  readonly rank: number;
  readonly capacity: number;
  readonly selected: boolean;
  readonly pinned: Row | undefined;
}

function RankRow({ more, narrow, store, row, rank, capacity, selected, pinned }: RankRowProps): VNode {
  const { layout, seconds, deviceBytes, exposed, state, short: own } = row;
  const base = pinned === row ? undefined : pinned;
  const memory = base ? signed(deviceBytes - base.deviceBytes, gib) : gib(deviceBytes);
  const select = (
    <button type="button" aria-pressed={selected} aria-label={`Select row ${rank}`} onClick={() => store.select(own)}>
      {narrow ? rank : 'Select'}
    </button>
  );
  const pin = (
    <button
      type="button"
      aria-pressed={pinned === row}
      aria-label={`Pin row ${rank} to compare the others with it`}
      onClick={() => void (store.pinned.value = pinned === row ? undefined : own)}
    >
      Pin
    </button>
  );
  return (
    <tr class={selected ? 'selected' : undefined} data-layout={own} data-state={state}>
      <td>{narrow ? select : rank}</td>
      <td class="number">{layout.tensor}</td>
      <td class="number">{layout.pipeline}</td>
      <td class="number">{layout.data}</td>
      {more.map((axis) => (
        <td key={axis} class="number">
          {layout[axis]}
        </td>
      ))}
      <td class="number">{layout.sharding}</td>
      <td class="number">
        {base ? signed(seconds - base.seconds, time) : `${state === 'bound' ? '\u2265 ' : ''}${time(seconds)}`}
      </td>
      {narrow ? (
        <td class={deviceBytes > capacity ? 'number alarm' : 'number'}>{memory}</td>
      ) : (
        <>
          <td>
            <MemoryBar parts={row.parts} bytes={deviceBytes} capacity={capacity} words={memory} />
          </td>
          <td class="number">{exposedWords(exposed, base?.exposed)}</td>
          <td>{state === 'simulated' ? '\u2713' : '\u2026'}</td>
        </>
      )}
      <td>
        {!narrow && <>{select} </>}
        {pin}
      </td>
    </tr>
  );
}

/** The exposed share of a row, or how it differs from that of the pinned one. */
function exposedWords(exposed: number | undefined, base: number | undefined): string {
  if (exposed === undefined) return '';
  return base === undefined ? share(exposed) : signed(exposed - base, share);
}

/** Parts on each other; what the device takes beside tensors stands on top, and a bound is one part. */
function stackOf(parts: Row['parts'], bytes: number) {
  let from = 0;
  const own = parts === undefined ? [] : memoryParts.map(([part, role]) => ({ part, role, size: parts[part] ?? 0 }));
  const rest = bytes - own.reduce((sum, { size }) => sum + size, 0);
  return [...own, { part: 'reserve', role: 'reserve' as const, size: Math.max(0, rest) }].map((each) => {
    const placed = { ...each, from };
    from += each.size;
    return placed;
  });
}

interface BarProps {
  readonly parts: Row['parts'];
  readonly bytes: number;
  readonly capacity: number;
  readonly words: string;
}

/** How full a GPU is: a line marks its capacity. */
function MemoryBar({ parts, bytes, capacity, words }: BarProps): VNode {
  const width = 120;
  const scale = width / (capacity * 1.1);
  const stack = stackOf(parts, bytes);
  return (
    <span class="bar">
      <svg width={width} height="12" aria-hidden="true">
        <rect width={width} height="12" fill="var(--mw-panel)" />
        {stack.map(({ part, from, size, role }) => (
          <rect key={part} x={from * scale} width={size * scale} height="12" fill={memoryColour(role)} />
        ))}
        <line x1={capacity * scale} x2={capacity * scale} y1="0" y2="12" stroke="var(--mw-text)" stroke-width="2" />
      </svg>
      <span class="number">{words}</span>
    </span>
  );
}
