/** @file One measured run as numbers: the columns that are read, and nothing assumed yet. */
import type { CsvRow } from './csv.ts';

/** Columns of a run that are read. Other columns may stand beside them. */
export const runColumns = [
  'id',
  'source',
  'source_detail',
  'year',
  'gpu',
  'gpus_per_node',
  'n_gpus',
  'interconnect_inter_gbps_per_gpu',
  'inter_efficiency',
  'model',
  'attn',
  'layers',
  'hidden',
  'ffn_hidden',
  'ffn_act',
  'heads',
  'kv_heads',
  'head_dim',
  'vocab',
  'seq',
  'experts',
  'top_k',
  'expert_ffn',
  'shared_ffn',
  'dense_layers',
  'preset',
  'global_batch',
  'micro_batch',
  'dp',
  'tp',
  'pp',
  'vpp',
  'cp',
  'ep',
  'etp',
  'sp',
  'zero_fsdp',
  'recompute',
  'precision',
  'framework',
  'workload',
  'step_time_s',
  'tokens_per_s_per_gpu',
  'peak_mem_GB',
  'mem_kind',
  'outcome',
  'notes',
] as const;

export type RunColumn = (typeof runColumns)[number];

/** Columns without which no row can be priced. */
export const neededColumns: readonly RunColumn[] = ['id', 'gpu', 'n_gpus', 'layers', 'hidden', 'heads', 'seq'];

const wholeColumns = [
  'year',
  'gpus_per_node',
  'n_gpus',
  'layers',
  'hidden',
  'ffn_hidden',
  'heads',
  'kv_heads',
  'head_dim',
  'vocab',
  'seq',
  'experts',
  'top_k',
  'expert_ffn',
  'shared_ffn',
  'dense_layers',
  'global_batch',
  'micro_batch',
  'dp',
  'tp',
  'pp',
  'vpp',
  'cp',
  'ep',
  'etp',
] as const;
const realColumns = [
  'interconnect_inter_gbps_per_gpu',
  'inter_efficiency',
  'step_time_s',
  'tokens_per_s_per_gpu',
  'peak_mem_GB',
] as const;

export type WholeColumn = (typeof wholeColumns)[number];
type NumberColumn = WholeColumn | (typeof realColumns)[number];
type TextColumn = Exclude<RunColumn, NumberColumn>;

/** A run. A blank cell is absent; numbers are positive. */
export type RunRow = { readonly [Key in NumberColumn]: number | undefined } & {
  readonly [Key in TextColumn]: string;
} & {
  readonly line: number;
  /** Columns that hold something else than a positive number. */
  readonly unreadable: readonly string[];
};

/** The run of a row of a table. */
export function runOf({ line, cells }: CsvRow): RunRow {
  const unreadable: string[] = [];
  const read = (column: NumberColumn, whole: boolean): number | undefined => {
    const text = cells[column] ?? '';
    if (text === '') return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && value > 0 && (!whole || Number.isInteger(value))) return value;
    unreadable.push(column);
    return undefined;
  };
  const values: Record<string, unknown> = { line, unreadable };
  for (const column of runColumns) values[column] = cells[column] ?? '';
  for (const column of wholeColumns) values[column] = read(column, true);
  for (const column of realColumns) values[column] = read(column, false);
  return values as unknown as RunRow;
}

/** Seconds of a step: as measured, or from the throughput of one device. */
export function measuredSeconds(row: RunRow): number | undefined {
  if (row.step_time_s !== undefined) return row.step_time_s;
  const { global_batch: batch, seq, tokens_per_s_per_gpu: rate, n_gpus: gpus } = row;
  if (batch === undefined || seq === undefined || rate === undefined || gpus === undefined) return undefined;
  return (batch * seq) / (rate * gpus);
}
