import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJob, type KernelPlan } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { memoryOf } from '../../memory/index.ts';
import { type ModelDimensions, modelFromDimensions } from '../../model/index.ts';
import type { Operation } from '../../program/index.ts';
import { blockContext, blockTemplates, compileProgram } from '../index.ts';
import { cases } from '../laws/cases.fixture.ts';
import { toyJob, toyLayout } from '../toy.fixture.ts';

type Kind = 'gpt2' | 'llama' | 'mixtral';
const more: Readonly<Record<Kind, Partial<ModelDimensions>>> = {
  gpt2: {},
  llama: { ffn: 16, kvHeads: 2 },
  mixtral: { ffn: 16, experts: 4, topK: 2 },
};

interface Changes {
  readonly kind?: Kind;
  readonly layout?: Partial<Layout>;
  readonly kernels?: Partial<KernelPlan>;
}

/** Operations of a template: kernel or collective with what it reads and writes. */
function operationsOf(template: string, { kind = 'gpt2', layout = {}, kernels = {} }: Changes = {}): readonly string[] {
  const { model } = modelFromDimensions(
    { kind, layers: 2, hidden: 8, heads: 4, vocab: 16, positions: 4, ...more[kind] },
    'model',
  );
  if (model === undefined) throw new Error('internal: the fixture is broken.');
  const job = createJob({ ...toyJob(), model, kernels });
  const { templates } = blockTemplates(blockContext(job, toyLayout(layout)));
  return (templates.find(({ name }) => name === template)?.operations ?? []).map(textOf);
}

function textOf(operation: Operation): string {
  const what =
    operation.kind === 'collective' ? operation.collective : operation.kind === 'compute' ? operation.kernel : '';
  const writes = operation.writes.map(({ buffer, accumulate }) => (accumulate ? `${buffer}+` : buffer));
  return [what, ...operation.reads, '->', ...writes].join(' ');
}

const without: Partial<Layout> = { sequenceParallel: false };
const alone: Partial<Layout> = { tensor: 1, sequenceParallel: false };
const kernelsOf = (operations: readonly string[]): string => operations.map((line) => line.split(' ')[0]).join(' ');

describe('a layer', () => {
  it('of the Llama kind rotates, gates, and has no biases', () => {
    expect(operationsOf('F.layer', { kind: 'llama', layout: alone })).toEqual([
      'rmsnorm x ln1.w -> n1 st1',
      'gemm n1 qkv.w none -> qkv',
      'rope qkv -> qkv',
      'attention qkv -> o lse',
      'gemm o proj.w none -> a',
      'add a none x -> r',
      'rmsnorm r ln2.w -> n2 st2',
      'gemm n2 fc1.w none -> f',
      'gated f -> ge',
      'gemm ge fc2.w none -> c',
      'add c none r -> y',
    ]);
  });

  it('without sequence parallelism sums in place, twice forward and twice backward', () => {
    const sums = (template: string) =>
      operationsOf(template, { layout: without }).filter((line) => /^(all-|reduce-)/.test(line));
    expect(sums('F.layer')).toEqual(['all-reduce a -> a', 'all-reduce c -> c']);
    expect(sums('B.layer')).toEqual(['all-reduce dn2g -> dn2g', 'all-reduce dn1g -> dn1g']);
  });

  it('reads in its backward the gathered inputs that forward left, or gathers them again', () => {
    const gathered = (layout: Partial<Layout>) =>
      operationsOf('B.layer', { layout }).filter((line) => /^gemm.dw (df|dqkv)|-> n\dh/.test(line));
    expect(gathered({})).toEqual([
      'all-gather n2 -> n2h',
      'gemm.dw df n2h -> G.fc1.w+ G.fc1.b+',
      'all-gather n1 -> n1h',
      'gemm.dw dqkv n1h -> G.qkv.w+ G.qkv.b+',
    ]);
    for (const kept of [{ keepGathered: true }, { recompute: 'full' } as const]) {
      expect(gathered(kept)).toEqual(['gemm.dw df n2g -> G.fc1.w+ G.fc1.b+', 'gemm.dw dqkv n1g -> G.qkv.w+ G.qkv.b+']);
    }
  });

  it('scatters a gradient before the weight gradient that it can hide behind', () => {
    const backward = operationsOf('B.layer');
    const at = (start: string) => backward.findIndex((line) => line.startsWith(start));
    expect(at('reduce-scatter dn2g')).toBe(at('gemm.dw df') - 1);
    expect(at('reduce-scatter dn1g')).toBe(at('gemm.dw dqkv') - 1);
  });

  it('of experts chooses, sends tokens to their experts and adds what comes back; the router adds to the gradient', () => {
    const options = { kind: 'mixtral', layout: alone } as const;
    expect(kernelsOf(operationsOf('F.layer', options).slice(7, -1))).toBe(
      'gemm topk dispatch grouped-gemm gated grouped-gemm combine',
    );
    const backward = operationsOf('B.layer', options);
    expect(backward).toContain('gemm.dw drl n2 -> G.router.w+');
    expect(backward).toContain('gemm.dx drl router.w -> dn2g+');
  });
});

describe('attention', () => {
  const unfused = { attention: 'unfused', dropout: 0.1 } as const;

  it('written out keeps probabilities and their dropout, and makes them again under selective recomputation', () => {
    const core = (template: string, recompute: Layout['recompute']) =>
      operationsOf(template, { layout: { recompute }, kernels: unfused }).filter((line) =>
        /^(scores|softmax|context)| mka/.test(line),
      );
    expect(core('F.layer', 'none')).toEqual([
      'scores qkv -> sc',
      'softmax sc -> pr',
      'dropout pr -> pd mka',
      'context pd qkv -> o',
    ]);
    const backward = [
      'context.dx do pd qkv -> dpd dqkv',
      'dropout.dx dpd mka -> dpr',
      'softmax.dx dpr pr -> dsc',
      'scores.dx dsc qkv -> dqkv+',
    ];
    expect(core('B.layer', 'none')).toEqual(backward);
    expect(core('B.layer', 'selective')).toEqual([...core('F.layer', 'none').slice(0, 3), ...backward]);
  });

  it('written out without dropout reads the probabilities themselves', () => {
    const plain = { attention: 'unfused', dropout: 0 } as const;
    expect(operationsOf('B.layer', { kernels: plain })).toContain('context.dx do pr qkv -> dpr dqkv');
  });

  it('blockwise reads its output and its statistics', () => {
    expect(operationsOf('B.layer')).toContain('attention.dx do qkv o lse -> dqkv');
  });

  it('is followed by dropout of both branches, whose masks backward reads', () => {
    const options = { kernels: { dropout: 0.1 } };
    expect(operationsOf('F.layer', options).filter((line) => line.startsWith('dropout'))).toEqual([
      'dropout-add as proj.b x -> r mk1',
      'dropout-add cs fc2.b r -> y mk2',
    ]);
    expect(operationsOf('B.layer', options).filter((line) => line.startsWith('dropout'))).toEqual([
      'dropout.dx dy mk2 -> dyd',
      'dropout.dx dr mk1 -> drd',
    ]);
  });
});

describe('the ends', () => {
  it('cut the vocabulary: one all-reduce for the embedding, one for the head, three for the loss', () => {
    const reduced = (template: string) =>
      operationsOf(template, { layout: without }).filter((line) => line.startsWith('all-reduce'));
    expect(reduced('F.embed')).toEqual(['all-reduce e -> e']);
    expect(reduced('B.embed')).toEqual([]);
    expect(reduced('F.head')).toEqual(['all-reduce mx -> mx', 'all-reduce se -> se', 'all-reduce tl -> tl']);
    expect(reduced('B.head')).toEqual(['all-reduce dnfg -> dnfg']);
  });

  it('write the embedding itself where there are no positions: into the first boundary', () => {
    const embed = (layout: Partial<Layout>) => operationsOf('F.embed', { kind: 'llama', layout });
    expect(embed(alone)).toEqual(['embedding tokens wte -> y']);
    expect(embed(without)).toEqual(['embedding tokens wte -> y', 'all-reduce y -> y']);
    expect(embed({})).toEqual(['embedding tokens wte -> e', 'reduce-scatter e -> y']);
  });

  it('read the output matrix, or the embedding where it is tied', () => {
    expect(operationsOf('F.head')).toContain('gemm nfg wte none -> z');
    expect(operationsOf('B.head', { kind: 'llama' })).toContain('gemm.dw dz nfg -> G.lm.w+');
  });
});

describe('declarations', () => {
  it('are named by some operation: nothing is declared in vain', () => {
    fc.assert(
      fc.property(cases('padded'), ({ job, layout }) => {
        const { templates, buffers } = blockTemplates(blockContext(job, layout));
        const boundary = (name: string) => ({ y: 'x', dy: 'dx' })[name] ?? name;
        const named = new Set(
          templates.flatMap(({ operations }) =>
            operations.flatMap(({ reads, writes }) => [...reads, ...writes.map(({ buffer }) => buffer)].map(boundary)),
          ),
        );
        expect(buffers.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
      }),
    );
  });

  it('do not depend on the stage: layouts with equal contexts share their templates', () => {
    const of = (layout: Partial<Layout>) => compileProgram(toyJob(), toyLayout(layout)).templates;
    expect(of({ pipeline: 1, layersPerStage: [2], schedule: 'none' })).toEqual(of({}));
  });
});

describe('a loss in pieces', () => {
  const layout: Partial<Layout> = { ...alone, lossChunks: 2 };
  it('has the logits of one piece at a time, and makes them again in backward', () => {
    expect(operationsOf('F.head', { kind: 'llama', layout })).toEqual([
      'rmsnorm x lnf.w -> nf stf',
      'slice nf -> nf1',
      'slice labels -> labels1',
      'gemm nf1 lm.w none -> z1',
      'rowmax z1 -> mx1',
      'rowsumexp z1 mx1 labels1 -> se1 tl1',
      'nll mx1 se1 tl1 scale -> loss+',
      'slice nf -> nf2',
      'slice labels -> labels2',
      'gemm nf2 lm.w none -> z2',
      'rowmax z2 -> mx2',
      'rowsumexp z2 mx2 labels2 -> se2 tl2',
      'nll mx2 se2 tl2 scale -> loss+',
    ]);
    expect(operationsOf('B.head', { kind: 'llama', layout }).slice(0, 6)).toEqual([
      'slice nf -> nf1b',
      'gemm nf1b lm.w none -> z1b',
      'cross-entropy.dx z1b mx1 se1 labels1 scale -> dz1',
      'gemm.dx dz1 lm.w -> dnf1',
      'place dnf1 none -> dnfg',
      'gemm.dw dz1 nf1b -> G.lm.w+',
    ]);
  });

  it('has logits and their gradient alive for one piece', () => {
    const peakOf = (lossChunks: number): number => {
      const { model } = modelFromDimensions(
        { kind: 'llama', layers: 1, hidden: 8, heads: 4, ffn: 16, vocab: 4096, positions: 64 },
        'model',
      );
      if (model === undefined) throw new Error('internal: the fixture is broken.');
      const job = createJob({ ...toyJob(), model, batch: { sequences: 1, length: 64 } });
      const program = compileProgram(
        job,
        toyLayout({ ...alone, pipeline: 1, data: 1, layersPerStage: [1], schedule: 'none', lossChunks }),
      );
      return memoryOf(program).largest?.parts.logits ?? 0;
    };
    // Logits and their gradient, float32 each.
    expect(peakOf(1)).toBe(2 * 64 * 4096 * 4);
    expect(peakOf(8)).toBe(peakOf(1) / 8);
  });
});
