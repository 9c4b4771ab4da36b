/** @file The ledger of a replay: what was measured of each GPU beside what the program says of the same step. */
import type { GpuState, Moment } from '@meshwright/figures';
import type { VNode } from 'preact';
import { Heads } from '../../parts/heads.tsx';
import { grouped, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

const columns: readonly string[] = [
  'GPU',
  '#held, bytes',
  '#the program',
  '#sent, bytes',
  '#the program ',
  '#received, bytes',
  '#the program  ',
  '#done at',
  '#computing so far',
  'now',
];

type Amount = 'held' | 'sent' | 'received';
const predictedOf = (gpu: GpuState, amount: Amount): number => (amount === 'held' ? gpu.totalBytes : gpu[amount]);
const amounts: readonly Amount[] = ['held', 'sent', 'received'];

/** GPUs on which a count of the run is not that of the program. */
const differing = ({ gpus }: Moment, amount: Amount): readonly GpuState[] =>
  gpus.filter((gpu) => gpu.measured && Math.abs(gpu.measured[amount] - predictedOf(gpu, amount)) >= 1);

export function RunLedger({ moment }: { readonly moment: Moment }): VNode {
  const apart = amounts.flatMap((amount) => {
    const gpus = differing(moment, amount);
    return gpus.length === 0 ? [] : [`${amount} by GPU ${gpus.map(({ rank }) => rank).join(', ')}`];
  });
  return (
    <section aria-label="Ledger" class="ledger">
      <Scroll name="What was measured of each GPU">
        <table id="ledger">
          <caption>Measured, beside what the program says, since the beginning of the step</caption>
          <Heads columns={columns} />
          <tbody>
            {moment.gpus.map((gpu) => (
              <Row key={gpu.rank} gpu={gpu} />
            ))}
          </tbody>
        </table>
      </Scroll>
      <p>
        {moment.frame === 0
          ? 'The step has not begun.'
          : apart.length === 0
            ? 'Every GPU holds, has sent and has received to the byte what the program says \u2713'
            : `Not what the program says: ${apart.join('; ')}.`}
      </p>
    </section>
  );
}

function Row({ gpu }: { readonly gpu: GpuState }): VNode {
  const { rank, measured, doing } = gpu;
  return (
    <tr data-rank={rank} data-sent={measured?.sent ?? 0} data-received={measured?.received ?? 0}>
      <th scope="row">{rank}</th>
      {amounts.flatMap((amount) => [
        <td key={amount} class="number">
          {measured ? grouped(measured[amount]) : ''}
        </td>,
        <td key={`${amount} program`} class="number quiet">
          {grouped(predictedOf(gpu, amount))}
        </td>,
      ])}
      <td class="number">{measured?.end === undefined ? '' : time(measured.end)}</td>
      <td class="number">{measured ? time(measured.busy) : ''}</td>
      <td>{doing}</td>
    </tr>
  );
}
