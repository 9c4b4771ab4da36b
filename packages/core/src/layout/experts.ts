/** @file Where the experts of a mixture lie: as the dense grid has it, cut over tensor in every rank, or over a grid of
 * their own that is made of the same ranks: expertTensor x expert x expertData = tensor x context x data.
 */
import { createMesh, type Mesh } from '../mesh/index.ts';
import type { LayoutJob } from './job.ts';
import type { Layout } from './types.ts';

/** The keys that decide where experts lie. */
export type ExpertKeys = Pick<Layout, 'tensor' | 'context' | 'data' | 'expert' | 'expertTensor'>;

/** Experts lie over a grid of their own. Where one expert group holds all experts, cut as tensor cuts everything, the dense
 * grid says the same. Layouts of models without experts never do (normal form).
 */
export const hasExpertGrid = ({
  tensor,
  expert,
  expertTensor,
}: Pick<Layout, 'tensor' | 'expert' | 'expertTensor'>): boolean => expert > 1 || expertTensor !== tensor;

/** Ranks of a stage that hold the same slices of the same experts; a whole number for a legal layout. */
export const expertDataOf = ({ tensor, context, data, expert, expertTensor }: ExpertKeys): number =>
  (tensor * context * data) / (expert * expertTensor);

/** The mesh of a layout, with its expert grid where it has one. */
export function meshOf(layout: ExpertKeys & Pick<Layout, 'pipeline' | 'order'>): Mesh {
  const { tensor, context, data, pipeline, expert, expertTensor, order } = layout;
  const dense = { tensor, context, data, pipeline };
  if (!hasExpertGrid(layout)) return createMesh(dense, order);
  return createMesh({ ...dense, expert, expertTensor, expertData: expertDataOf(layout) }, order);
}

/** Routed experts of the model's layers, each distinct count once; empty for a dense model. */
export const expertCounts = ({ model }: Pick<LayoutJob, 'model'>): readonly number[] => [
  ...new Set([...new Set(model.layers)].flatMap(({ ffn }) => (ffn.kind === 'moe' ? [ffn.experts] : []))),
];

/** Widths of the model's routed experts. */
export const expertWidths = ({ model }: Pick<LayoutJob, 'model'>): readonly number[] => [
  ...new Set([...new Set(model.layers)].flatMap(({ ffn }) => (ffn.kind === 'moe' ? [ffn.width] : []))),
];
