/** @file Memory of the selected plan: each stage against the capacity, over the step, what is alive at the peak, and what
 * would take bytes away at which price.
 */

import type { ShownStage } from '@meshwright/core/plan';
import { memoryColour } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row, Store } from '../app/store.ts';
import type { ViewProps } from '../app/view-props.ts';
import type { StageMemory } from '../engine/detail.ts';
import { useAnswer } from '../parts/answer.tsx';
import { Heads } from '../parts/heads.tsx';
import { memoryParts as roles } from '../parts/memory-parts.ts';
import { gib, share, signed, size, time } from '../parts/numbers.ts';
import { Pending } from '../parts/pending.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { layoutWords } from './plan/view.tsx';

export function MemoryView({ store }: ViewProps): VNode {
  const row = store.selected.value;
  if (!row) return <p role="status">No plan yet.</p>;
  return <OfRow key={row.short} store={store} row={row} />;
}

function OfRow({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const key = `${row.short} ${JSON.stringify(scenario)}`;
  const shown = useAnswer(key, () => store.viewer.ask('show', scenario, row.layout));
  const detail = useAnswer(key, () => store.viewer.ask('memory', scenario, row.layout));
  const variants = useAnswer(key, () => store.viewer.ask('variants', scenario, row.layout));
  const stage = useSignal(0);
  return (
    <section aria-label="Memory">
      <h2>{layoutWords(row)}</h2>
      <Pending known={shown.value} words="Adding up what each stage holds." height={220}>
        {({ memory }) => (
          <Stages
            stages={memory.stages}
            capacity={memory.capacityBytes}
            selected={stage.value}
            select={(each) => void (stage.value = each)}
          />
        )}
      </Pending>
      <Pending known={detail.value} words="Following memory over the step." height={320}>
        {({ stages, note }) => {
          const own = stages[Math.min(stage.value, stages.length - 1)];
          return own ? <Over stage={own} note={note} /> : null;
        }}
      </Pending>
      <h3>What would take bytes away</h3>
      <Pending known={variants.value} words="Evaluating changes of this layout." height={120}>
        {(found) => (
          <ul class="variants">
            {found.length === 0 && <li>Nothing that is legal here.</li>}
            {found.map(({ words, request, bytesLess, secondsMore, fits }) => (
              <li key={words}>
                <button type="button" onClick={() => store.edit({ layout: withoutSplit(request) })}>
                  {words}
                </button>{' '}
                <span>{`${signed(-bytesLess, size)} on the fullest GPU, ${signed(secondsMore, time)} a step${fits ? '' : '; still does not fit'}`}</span>
              </li>
            ))}
          </ul>
        )}
      </Pending>
    </section>
  );
}

/** A button opens the change as a new candidate: its keys are fixed, the split of layers follows. */
const withoutSplit = <Request extends { readonly layersPerStage?: unknown }>({
  layersPerStage: _,
  ...request
}: Request): Omit<Request, 'layersPerStage'> => request;

interface StagesProps {
  readonly stages: readonly ShownStage[];
  readonly capacity: number;
  readonly selected: number;
  select(stage: number): void;
}

function Stages({ stages, capacity, selected, select }: StagesProps): VNode {
  const most = Math.max(capacity, ...stages.map(({ deviceBytes }) => deviceBytes));
  return (
    <Scroll name="Memory of each stage">
      <table>
        <caption>{`A GPU of each stage at its peak, in GiB; ${gib(capacity)} can be allocated. All ranks of a stage hold the same.`}</caption>
        <Heads columns={['stage', 'layers', 'at the peak', ...roles.map(([part]) => `#${part}`), '#device~', 'fits']} />
        <tbody>
          {stages.map(({ stage, layers, partsBytes, deviceBytes, verdict }) => (
            <tr key={stage} class={stage === selected ? 'selected' : undefined}>
              <td>
                <button type="button" aria-pressed={stage === selected} onClick={() => select(stage)}>
                  {`stage ${stage}`}
                </button>
              </td>
              <td class="number">{layers}</td>
              <td>
                <Stack parts={partsBytes} device={deviceBytes} capacity={capacity} most={most} />
              </td>
              {roles.map(([part]) => (
                <td key={part} class="number">
                  {gib(partsBytes[part] ?? 0)}
                </td>
              ))}
              <td class="number">{gib(deviceBytes)}</td>
              <td class={verdict === 'fits' ? undefined : 'alarm'}>{verdict.replaceAll('-', ' ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface StackProps {
  readonly parts: Readonly<Record<string, number>>;
  readonly device: number;
  readonly capacity: number;
  readonly most: number;
}

function Stack({ parts, device, capacity, most }: StackProps): VNode {
  const width = 240;
  const scale = width / (most * 1.04);
  let x = 0;
  return (
    <svg width={width} height="16" aria-hidden="true">
      <rect width={width} height="16" fill="var(--mw-panel)" />
      {roles.map(([part, role]) => {
        const from = x;
        const own = (parts[part] ?? 0) * scale;
        x += own;
        return <rect key={part} x={from} width={own} height="16" fill={memoryColour(role)} />;
      })}
      <rect x={x} width={Math.max(0, device * scale - x)} height="16" fill={memoryColour('reserve')} />
      <line x1={capacity * scale} x2={capacity * scale} y1="0" y2="16" stroke="var(--mw-text)" stroke-width="2" />
    </svg>
  );
}

function Over({ stage, note }: { readonly stage: StageMemory; readonly note: string }): VNode {
  const { over, peakAt, peakBytes, residentBytes, peakWhy } = stage;
  const [width, height] = [960, 160];
  const y = (bytes: number): number => height - (bytes / (peakBytes * 1.08)) * height;
  const points = Array.from(
    over,
    (bytes, index) => `${((index / Math.max(1, over.length - 1)) * width).toFixed(1)},${y(bytes).toFixed(1)}`,
  );
  return (
    <div>
      <h3>{`Stage ${stage.stage} over the step`}</h3>
      <figure>
        <svg
          viewBox={`0 0 ${width} ${height + 22}`}
          role="img"
          aria-label={`Memory over the step: ${size(residentBytes)} throughout, ${size(peakBytes)} at the peak, ${share(peakAt)} through the step`}
        >
          <path d={`M0,${height}L${points.join('L')}L${width},${height}z`} fill={memoryColour('activations')} />
          <rect y={y(residentBytes)} width={width} height={height - y(residentBytes)} fill={memoryColour('weights')} />
          <line
            x1={peakAt * width}
            x2={peakAt * width}
            y1="0"
            y2={height}
            stroke="var(--mw-text)"
            stroke-dasharray="4 3"
          />
          <text x={Math.min(width - 180, peakAt * width + 6)} y="12">{`peak ${size(peakBytes)}`}</text>
          <text
            x="0"
            y={height + 16}
          >{`throughout: ${size(residentBytes)}; above it what comes and goes, in the order of the program`}</text>
        </svg>
        <figcaption>{`At the peak the GPU ${peakWhy}. ${note}`}</figcaption>
      </figure>
      <Alive stage={stage} />
    </div>
  );
}

const Alive = ({ stage: { alive, aliveCount, peakBytes } }: { readonly stage: StageMemory }): VNode => (
  <details>
    <summary>{`${aliveCount} buffers are alive at the peak`}</summary>
    <Scroll name="Buffers alive at the peak">
      <table>
        <Heads columns={['buffer', 'role', '#bytes', '#of the peak']} />
        <tbody>
          {alive.map(({ name, role, bytes }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{role}</td>
              <td class="number">{size(bytes)}</td>
              <td class="number">{share(bytes / peakBytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    {aliveCount > alive.length && <p class="quiet">{`and ${aliveCount - alive.length} smaller ones`}</p>}
  </details>
);
