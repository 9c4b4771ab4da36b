/** @file What runs in the selected area, as a table: seconds of each lane and kind, hidden behind computing or exposed. */
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { Heads } from '../../parts/heads.tsx';
import { grouped, share, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';
import { type Area, linesOf } from './area.ts';
import { kindWords } from './kind-words.ts';
import type { LaneRow } from './lanes.ts';

interface AreaTableProps {
  readonly detail: TimelineDetail;
  readonly rows: readonly LaneRow[];
  readonly area: Signal<Area | undefined>;
}

export function AreaTable({ detail, rows, area }: AreaTableProps): VNode | null {
  const chosen = area.value;
  if (!chosen) return null;
  const lines = linesOf(rows, chosen);
  const all =
    (chosen.to - chosen.from) * new Set(rows.slice(chosen.firstRow, chosen.lastRow + 1).map(({ rank }) => rank)).size;
  const ns = (value: number): string => time(value / 1e9);
  return (
    <section aria-label="Selected area">
      <p role="status">
        {`From ${ns(chosen.from)} to ${ns(chosen.to)}, ${chosen.lastRow - chosen.firstRow + 1} lanes. `}
        <button type="button" onClick={() => void (area.value = undefined)}>
          Select no area
        </button>
      </p>
      <Scroll name="What runs in the area">
        <table>
          <Heads columns={['lane', 'what', '#slices', '#time~', '#of the area', '#hidden~', '#exposed~']} />
          <tbody>
            {lines.map(({ lane, kind, slices, busy, hidden }) => (
              <tr key={`${lane} ${kind}`}>
                <th scope="row">{lane}</th>
                <td>{kindWords[detail.kinds[kind] ?? ''] ?? ''}</td>
                <td class="number">{grouped(slices)}</td>
                <td class="number">{ns(busy)}</td>
                <td class="number">{share(busy / all)}</td>
                <td class="number">{lane === 'compute' ? '' : ns(hidden)}</td>
                <td class="number">{lane === 'compute' ? '' : ns(busy - hidden)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
