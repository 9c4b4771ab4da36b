import { describe, expect, it } from 'vitest';
import { bucketWithEffect } from './buckets.ts';
import { sampleJob } from './sample.fixture.ts';

/** 268 M parameters a layer: 537 MB of bf16 gradients whole, 67 MB over tensor 8. The head: 262 and 33 MB. */
const sizes = (tensor: number, vocabulary = 32_000) =>
  [5, 25, 50, 100].map((size) =>
    bucketWithEffect(sampleJob({ vocabulary }), { tensor, expert: 1, expertTensor: tensor }, 'bf16', size),
  );

describe('the size of buckets', () => {
  it('has no effect where every layer and the head fill the larger bucket by themselves', () => {
    expect(sizes(1)).toEqual([25, 25, 25, 25]);
  });
  it('has one where a bucket takes several layers, or the head with one', () => {
    expect(sizes(8)).toEqual([25, 25, 50, 100]);
    expect(sizes(1, 8192)).toEqual([25, 25, 25, 100]);
  });
});
