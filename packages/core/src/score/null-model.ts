/** @file The model to beat: devices run at the constant rate that other sources show, times the bubble of the schedule. */
import type { PricedRun } from './price-row.ts';
import { quantile } from './statistics.ts';

/** A measured run with what the null model needs of it. */
export interface NullRow {
  readonly source: string;
  readonly gpus: number;
  readonly measuredSeconds: number;
  readonly priced: Pick<PricedRun, 'flops' | 'bubble' | 'rateKey'>;
}

/** Seconds that the null model predicts for each row; undefined where no other source has the device. */
export function nullSeconds(rows: readonly NullRow[]): readonly (number | undefined)[] {
  const known = new Map<string, number | undefined>();
  const rateFor = (source: string, rateKey: string): number | undefined => {
    const key = `${source}\n${rateKey}`;
    if (!known.has(key)) known.set(key, rateOf(rows, source, rateKey));
    return known.get(key);
  };
  return rows.map(({ source, gpus, priced }) => {
    const rate = rateFor(source, priced.rateKey);
    return rate === undefined ? undefined : (priced.flops * (1 + priced.bubble)) / (gpus * rate);
  });
}

/** FLOP/s of a device outside of its bubbles: the median of the sources' medians. */
function rateOf(rows: readonly NullRow[], source: string, rateKey: string): number | undefined {
  const bySource = new Map<string, number[]>();
  for (const { source: other, gpus, measuredSeconds, priced } of rows) {
    if (other === source || priced.rateKey !== rateKey) continue;
    const rates = bySource.get(other) ?? [];
    rates.push((priced.flops * (1 + priced.bubble)) / (gpus * measuredSeconds));
    bySource.set(other, rates);
  }
  const medians = [...bySource.values()].map((rates) => quantile(ascending(rates), 0.5));
  return medians.length === 0 ? undefined : quantile(ascending(medians), 0.5);
}

const ascending = (values: readonly number[]): readonly number[] => [...values].sort((a, b) => a - b);
