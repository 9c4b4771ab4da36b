/** @file Single changes of a layout that may take bytes away. Whether one is legal, and what it frees, is for the engine to say. */
import type { Layout, LayoutRequest } from '@meshwright/core/layout';

/** A change, in words and as keys. */
export type Change = readonly [words: string, request: LayoutRequest];

/** All that may help, each by itself. */
export const changesOf = (layout: Layout): readonly Change[] => [
  ...shardings(layout),
  ...recomputations(layout),
  ...degrees(layout),
  ...buffers(layout),
];

const sharded = ['sharded optimizer (ZeRO-1)', 'sharded gradients (ZeRO-2)', 'sharded weights (ZeRO-3)'] as const;

const shardings = ({ sharding, data }: Layout): readonly Change[] =>
  ([1, 2, 3] as const)
    .filter((each) => each > sharding && data > 1)
    .map((each) => [sharded[each - 1] ?? '', { sharding: each }]);

function recomputations({ recompute }: Layout): readonly Change[] {
  const attention: Change = ['recompute attention', { recompute: 'selective', layers: [] }];
  const whole: Change = ['recompute whole layers', { recompute: 'full', layers: [] }];
  return [...(recompute === 'none' ? [attention] : []), ...(recompute === 'full' ? [] : [whole])];
}

/** Ranks are taken from the data axis. */
function degrees({ tensor, pipeline, context, data, microBatch, chunks }: Layout): readonly Change[] {
  const half = data / 2;
  const taken: readonly Change[] =
    data % 2 === 0
      ? [
          [`tensor ${tensor * 2}, data ${half}`, { tensor: tensor * 2, data: half, sequenceParallel: true }],
          [
            `pipeline ${pipeline * 2}, data ${half}`,
            { pipeline: pipeline * 2, data: half, schedule: '1f1b', chunks: 1 },
          ],
          [`context ${context * 2}, data ${half}`, { context: context * 2, data: half }],
        ]
      : [];
  return [
    ...(microBatch % 2 === 0 ? [[`micro-batch ${microBatch / 2}`, { microBatch: microBatch / 2 }] as const] : []),
    ...taken,
    ...(chunks > 1 ? [['1F1B without virtual stages', { schedule: '1f1b', chunks: 1 }] as const] : []),
  ];
}

/** What is kept longer, wider or nearer than it has to be. */
function buffers(layout: Layout): readonly Change[] {
  const { offload, lossChunks, gradientType, prefetch, reshard, sharding, keepGathered, tensor } = layout;
  const offered: readonly (readonly [offered: boolean, change: Change])[] = [
    [offload === 'none', ['optimizer state in host memory', { offload: 'optimizer' }]],
    [lossChunks < 8, ['loss in 8 pieces', { lossChunks: 8 }]],
    [gradientType === 'fp32', ['gradients in bf16', { gradientType: 'bf16' }]],
    [tensor > 1 && !layout.sequenceParallel, ['sequence split with tensor', { sequenceParallel: true }]],
    [keepGathered, ['gathered inputs are gathered again', { keepGathered: false }]],
    [sharding === 3 && prefetch > 0, ['nothing gathered ahead', { prefetch: 0 }]],
    [sharding === 3 && !reshard, ['weights freed after use', { reshard: true }]],
  ];
  return offered.flatMap(([isOffered, change]) => (isOffered ? [change] : []));
}
