/** @file All tables of codes as one. A module of its own: who only raises issues does not load the words behind them. */
import { cluster } from './cluster.ts';
import { framework } from './framework.ts';
import { input } from './input.ts';
import { job } from './job.ts';
import { layout } from './layout.ts';
import { model } from './model.ts';
import { plan } from './plan.ts';
import { program } from './program.ts';
import { programForm } from './program-form.ts';
import { runtime } from './runtime.ts';

/** One row of the table of codes: what the code means and what to do about it, in one sentence each. */
export interface CodeRow {
  readonly meaning: string;
  readonly fix: string;
}

/** Every code of the product. The reference page of errors is generated from this table. */
export const codes: typeof input &
  typeof job &
  typeof model &
  typeof cluster &
  typeof framework &
  typeof layout &
  typeof plan &
  typeof program &
  typeof programForm &
  typeof runtime = {
  ...input,
  ...job,
  ...model,
  ...cluster,
  ...framework,
  ...layout,
  ...plan,
  ...program,
  ...programForm,
  ...runtime,
};
