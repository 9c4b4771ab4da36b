import { describe, expect, it } from 'vitest';
import { toyProgram } from './fixtures/toy.fixture.ts';
import type { Operation, WhyRule } from './types.ts';
import { renderReason, renderWhy } from './why.ts';

const program = toyProgram();

/** The sentence for an operation of a template in layer 3 of 4, micro-batch 2. */
function ofTemplate(template: string, index: number, block = 3): string {
  const operation = program.templates.find((each) => each.name === template)?.operations[index] as Operation;
  return renderWhy(operation.why, { operation, block, layers: 4, microBatch: 2 });
}

/** The sentence for a line of a list. */
function ofLine(list: number, id: number): string {
  const item = program.lists[list]?.items[id - 1];
  return item?.kind === 'operation' ? renderWhy(item.operation.why, { operation: item.operation }) : 'a call';
}

describe('why', () => {
  it('says of the lines of a layer what they do, where, and because of what', () => {
    expect([0, 1, 5].map((index) => ofTemplate('F.layer', index))).toMatchInlineSnapshot(`
      [
        "computes layer 3's normed input (micro-batch 2), because the model is made so",
        "gathers the sequence shards of layer 3's normed input over tensor (micro-batch 2), because the next product needs the whole sequence",
        "sums layer 3's attention output over tensor and leaves each rank its piece of the sequence (micro-batch 2), because each rank added up only its own slice",
      ]
    `);
    expect([0, 1, 7].map((index) => ofTemplate('B.layer', index))).toMatchInlineSnapshot(`
      [
        "gathers the sequence shards of layer 3's output gradient over tensor (micro-batch 2), because the next product needs the whole sequence",
        "gathers the sequence shards of layer 3's normed feed-forward input over tensor once more (micro-batch 2), because forward did not keep what it gathered",
        "sums layer 3's gradient of the normed feed-forward input over tensor and leaves each rank its piece of the sequence (micro-batch 2), because each rank added up only its own slice",
      ]
    `);
  });

  it('says it of the ends of the model', () => {
    expect(ofTemplate('F.embed', 1, -1)).toMatchInlineSnapshot(
      `"sums the embedding's embedded tokens over tensor and leaves each rank its piece of the sequence (micro-batch 2), because each rank added up only its own slice"`,
    );
    expect(ofTemplate('F.head', 4, 4)).toMatchInlineSnapshot(
      `"reduces the head's largest logits over tensor (micro-batch 2), because each rank has only its part of the vocabulary"`,
    );
  });

  it('says it of exchanges between stages, both ways', () => {
    expect([ofLine(0, 5), ofLine(0, 6), ofLine(1, 3), ofLine(1, 9)]).toMatchInlineSnapshot(`
      [
        "sends layer 1's input (micro-batch 0) to stage 1, because the next layers are there",
        "receives layer 1's input gradient (micro-batch 0) from stage 1, because the next layers are there",
        "receives layer 1's input (micro-batch 0) from stage 0, because the layers before are there",
        "sends layer 1's input gradient (micro-batch 0) to stage 0, because the layers before are there",
      ]
    `);
  });

  it('says it of the data axis and the tail', () => {
    expect([1, 15, 16, 17, 19, 20, 23, 24].map((id) => ofLine(0, id))).toMatchInlineSnapshot(`
      [
        "gathers the updated weights of bucket body over data, because each rank updated only its own shard",
        "sums the gradients of the whole parameters of its buckets over tensor, because each rank saw only its piece of the sequence",
        "sums the gradients of its buckets over ends, because first and last stage hold the same matrix",
        "sums the gradients of bucket body over data and leaves each rank its shard, because each replica saw other sequences",
        "works out the norm and the clipping, because clipping needs the norm of all gradients",
        "adds up the squared norm over tensor, because clipping needs the norm of all gradients",
        "works out the norm and the clipping, because clipping needs the norm of all gradients",
        "updates the weights and the optimizer's state, because all gradients of the step are in",
      ]
    `);
  });

  it('has words for every rule, with and without a context', () => {
    const rules: Readonly<Record<WhyRule, true>> = {
      model: true,
      'gather-sequence': true,
      'sum-sets': true,
      'copy-out': true,
      'copy-in': true,
      'gather-again': true,
      'sum-partial': true,
      'scatter-partial': true,
      'vocabulary-parallel': true,
      recompute: true,
      'next-stage': true,
      'previous-stage': true,
      'gather-updated': true,
      'gather-unit': true,
      'pass-keys': true,
      'pass-key-gradients': true,
      'gather-keys': true,
      'scatter-key-gradients': true,
      'heads-for-tokens': true,
      'reduce-gradient': true,
      'sum-whole-parameters': true,
      'sum-tied': true,
      'sum-copies': true,
      'count-rows': true,
      'dispatch-rows': true,
      'return-rows': true,
      'gather-expert': true,
      'scatter-expert': true,
      'global-norm': true,
      optimizer: true,
      'mean-loss': true,
      lifetime: true,
    };
    for (const rule of Object.keys(rules) as WhyRule[]) {
      expect(renderWhy({ rule })).toMatch(/^[a-z][^.]+, because [a-z][^.]+$/);
      expect(renderReason({ rule }).length).toBeLessThan(50);
    }
  });
});
