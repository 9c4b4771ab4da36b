/** @file Warnings about where the ranks of a group sit. */
import { type ClusterSpec, gpuCount } from '../../cluster/index.ts';
import type { Prices } from '../../cost/index.ts';
import { type Issue, warning } from '../../errors/index.ts';
import type { Layout } from '../../layout/index.ts';
import { type AxisName, createMesh, degreeOf, strideOf } from '../../mesh/index.ts';
import { thresholds } from '../thresholds.ts';

export function linkWarnings(cluster: ClusterSpec, layout: Layout, prices: Prices): readonly Issue[] {
  const { tensor } = layout;
  if (tensor === 1) return [];
  const { tier, name } = prices.linkOf(['tensor']);
  const issues: Issue[] = [...orderWarnings(cluster, layout, prices)];
  if (tier === 'inter') {
    const what = `a tensor group of ${tensor} ranks reaches over ${name}, and its exchanges block every layer.`;
    const fix = 'Keep tensor groups inside a node.';
    issues.push(warning('TENSOR_CROSSES_NODE', 'layout.tensor', what, fix, { tensor }));
  }
  if (tier === 'pcie' && tensor > thresholds.tensorRanksOnPcie) {
    const what = `a tensor group of ${tensor} ranks exchanges over ${name}, more than ${thresholds.tensorRanksOnPcie}.`;
    const fix = 'Use 2 or 1, or GPUs with a faster link.';
    issues.push(warning('TENSOR_ON_PCIE', 'layout.tensor', what, fix, { tensor }));
  }
  return issues;
}

/** The tensor group reaches further than a group of its size has to, because another axis runs faster through the ranks. */
function orderWarnings(cluster: ClusterSpec, layout: Layout, prices: Prices): readonly Issue[] {
  const { tensor, context, data, pipeline, order } = layout;
  const island = Math.min(gpuCount(cluster), Math.max(cluster.intra.gpus, cluster.gpusPerNode));
  const { islands } = prices.linkOf(['tensor']);
  const needed = Math.ceil(tensor / island);
  if (islands <= needed) return [];
  const mesh = createMesh({ tensor, context, data, pipeline }, order);
  const stride = strideOf(mesh, 'tensor');
  const before = mesh.axes.slice(
    0,
    mesh.axes.findIndex(({ name }) => name === 'tensor'),
  );
  const inside = before.filter(({ name }) => degreeOf(mesh, name) > 1).map(({ name }) => name);
  const what = `neighbours of a tensor group are ${stride} ranks apart, so ${tensor} of them reach over ${islands} nodes where ${needed} would do.`;
  const fix = `Number tensor ranks before ${listed(inside)}: order ${fastestFirst(order)}.`;
  return [warning('RANKS_OUT_OF_ORDER', 'layout.order', what, fix, { stride, islands, needed })];
}

const listed = (axes: readonly AxisName[]): string => axes.join(' and ');

const fastestFirst = (order: readonly AxisName[]): string =>
  ['tensor', ...order.filter((axis) => axis !== 'tensor')].join('-');
