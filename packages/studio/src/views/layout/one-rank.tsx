/** @file One rank: where it stands on the axes, what it holds at its peak, and what it does, in the order of its list. */
import { type Layout, meshOf } from '@meshwright/core/layout';
import { coordinateOf } from '@meshwright/core/mesh';
import type { Shown } from '@meshwright/core/plan';
import { memoryParts } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { grouped, size } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';

interface OneRankProps {
  readonly store: Store;
  readonly row: Row;
  /** The layout in the order of ranks that is shown. */
  readonly layout: Layout;
  readonly rank: number;
  readonly memory: Shown['memory'];
}

export function OneRank({ store, row, layout, rank, memory }: OneRankProps): VNode {
  const at = coordinateOf(meshOf(layout), rank);
  const stage = memory.stages.find((each) => each.stage === at.pipeline);
  const places = (['tensor', 'context', 'data'] as const).filter((axis) => layout[axis] > 1);
  const place = [...places.map((axis) => `${axis} ${at[axis]}`), `stage ${at.pipeline}`].join(', ');
  const holds = memoryParts.flatMap(([part]) => {
    const bytes = stage?.partsBytes[part] ?? 0;
    return bytes > 0 ? [`${part} ${size(bytes)}`] : [];
  });
  return (
    <>
      <p>
        {`Rank ${rank} is ${place}. It holds ${stage?.layers} layers and at its peak ${size(stage?.deviceBytes ?? 0)}~ of ${size(memory.capacityBytes)}: ${holds.join(', ')}.`}
      </p>
      <Does key={`${row.short} ${at.pipeline}`} store={store} row={row} rank={rank} stage={at.pipeline} />
    </>
  );
}

interface DoesProps {
  readonly store: Store;
  readonly row: Row;
  readonly rank: number;
  readonly stage: number;
}

/** Its list, compiled when it is opened. */
function Does({ store, row, rank, stage }: DoesProps): VNode {
  const { scenario } = store.place.value;
  const open = useSignal(false);
  const known = useAnswer(open.value ? `${row.short} ${stage} ${JSON.stringify(scenario)}` : '', () =>
    store.viewer.ask('does', scenario, row.layout, stage),
  );
  return (
    <details onToggle={({ currentTarget }) => void (open.value = currentTarget.open)}>
      <summary>{`What rank ${rank} does in a step, operation by operation`}</summary>
      {open.value && (
        <Pending known={known.value} words="Compiling its list." height={320}>
          {({ lines, all, note }) => (
            <Scroll name="Operations of the rank">
              <table class="operations">
                <caption>
                  {`${lines.length < all ? `The first ${grouped(lines.length)} of ${grouped(all)}` : grouped(all)} operations, in order of issue. ${note}`}
                </caption>
                <Heads columns={['#', 'lane', 'what and why', '#sends']} />
                <tbody>
                  {lines.map(({ index, lane, why, sent }) => (
                    <tr key={index}>
                      <td class="number">{index}</td>
                      <td>{lane}</td>
                      <td>{why}</td>
                      <td class="number">{sent > 0 ? size(sent) : ''}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Pending>
      )}
    </details>
  );
}
