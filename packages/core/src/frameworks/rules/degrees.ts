/** @file Ranks: what the degrees multiply to, and what the expert grid is made of. */
import { commonDivisors, divisorsOf, listed, nearest } from '../../mesh/index.ts';
import type { FrameworkName } from '../types.ts';
import { type FrameworkRule, megatrons, product, rule, type SetupFinding, times } from './rule.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py, validate_args';
const dims = 'torchtitan, torchtitan/distributed/parallel_dims.py, ParallelDims._validate';
const groups = 'DeepSpeed, deepspeed/utils/groups.py';
const context = 'nanotron, src/nanotron/parallel/context.py, ParallelContext';

/** The one degree that mends a product, where one does. */
function mended(gpus: number, factors: Readonly<Record<string, number>>): Omit<SetupFinding, 'message'> {
  for (const key of ['data', 'pipeline', 'tensor', 'context'] as const) {
    const own = factors[key];
    if (own === undefined) continue;
    const others = times(factors) / own;
    if (gpus % others !== 0) continue;
    const fits = [gpus / others];
    return { key, hint: `Use ${key} ${fits[0]}.`, values: { ...factors, gpus, fits } };
  }
  return { key: 'data', hint: `Use degrees whose product is ${gpus}.`, values: { ...factors, gpus } };
}

const exact = (frameworks: readonly FrameworkName[], source: string): FrameworkRule =>
  rule('DEGREES_NOT_GPUS', frameworks, source, ['gpus', 'tensor', 'pipeline', 'data'], (known, setup) => {
    const { gpus, tensor, pipeline, data } = known;
    const factors = { tensor, pipeline, context: setup.context ?? 1, data };
    if (times(factors) === gpus) return undefined;
    return { ...mended(gpus, factors), message: `${product(factors)} is not the ${gpus} GPUs.` };
  });

/** Rules of ranks. */
export const degreeRules: readonly FrameworkRule[] = [
  rule('WORLD_NOT_DIVISIBLE', megatrons, arguments_, ['gpus', 'tensor', 'pipeline'], (known, setup) => {
    const { gpus, tensor, pipeline } = known;
    const factors = { tensor, pipeline, context: setup.context ?? 1 };
    if (gpus % times(factors) === 0) return undefined;
    const key = gpus % tensor === 0 ? 'pipeline' : 'tensor';
    const fits = nearest(
      divisorsOf(key === 'pipeline' ? gpus / (tensor * gcd(gpus / tensor, factors.context)) : gpus),
      factors[key],
    );
    return {
      key,
      message: `${product(factors)} does not divide the ${gpus} GPUs.`,
      hint: `Use ${key} ${listed(fits)}.`,
      values: { ...factors, gpus, fits: fits.filter((fit) => gpus % ((times(factors) / factors[key]) * fit) === 0) },
    };
  }),
  exact(megatrons, `${arguments_}; data is what tensor x pipeline x context leave`),
  exact(['torchtitan'], `${dims}; issue 1184`),
  exact(['deepspeed'], `${groups}; the data world is what tensor, pipeline and sequence ranks leave`),
  exact(
    ['fsdp'],
    'accelerate, src/accelerate/parallelism_config.py: the product of all sizes is the number of processes',
  ),
  exact(['nanotron'], context),
  rule('DEGREE_NOT_OFFERED', ['fsdp'], 'PyTorch FSDP and accelerate have no pipeline', ['pipeline'], ({ pipeline }) =>
    pipeline === 1
      ? undefined
      : {
          key: 'pipeline',
          message: `pipeline ${pipeline} is above 1 and fsdp has no pipeline.`,
          hint: 'Use pipeline 1, or another framework.',
          values: { pipeline, fits: [1] },
        },
  ),
  rule(
    'EXPERT_GRID_NOT_RANKS',
    [...megatrons, 'nanotron'],
    'Megatron-LM, megatron/core/parallel_state.py: world % (etp x ep x pp), context is not in it; nanotron, parallel/context.py; NeMo issue 14838: etp defaults to tp',
    ['gpus', 'pipeline', 'expert'],
    ({ gpus, pipeline, expert }, { expertTensor, tensor = 1 }) => {
      const factors = { expertTensor: expertTensor ?? tensor, expert, pipeline };
      if (gpus % times(factors) === 0) return undefined;
      const others = factors.expertTensor * pipeline;
      const fits = gpus % others === 0 ? nearest(divisorsOf(gpus / others), expert) : [];
      const stated = expertTensor === undefined ? ' (expertTensor is that of tensor unless given)' : '';
      return {
        key: 'expert',
        message: `${product(factors)} does not divide the ${gpus} GPUs${stated}.`,
        hint: fits.length > 0 ? `Use expert ${listed(fits)}.` : `Use degrees whose product divides ${gpus}.`,
        values: { ...factors, gpus, fits },
      };
    },
  ),
  rule(
    'EXPERT_GRID_NOT_RANKS',
    ['torchtitan'],
    `${dims}: ep divides dp_shard x cp x tp, replicas stand outside`,
    ['tensor', 'expert', 'data'],
    ({ tensor, expert, data }, { context: cp = 1, dataShard = data }) => {
      const factors = { dataShard, context: cp, tensor };
      if (times(factors) % expert === 0) return undefined;
      const fits = nearest(divisorsOf(times(factors)), expert);
      return {
        key: 'expert',
        message: `expert ${expert} does not divide the ${times(factors)} ranks of ${product(factors)}.`,
        hint: `Use expert ${listed(fits)}.`,
        values: { ...factors, expert, fits },
      };
    },
  ),
  rule(
    'EXPERT_GRID_NOT_RANKS',
    ['deepspeed'],
    `${groups}, _create_expert_and_data_parallel: the data world is divisible by ep_size`,
    ['data', 'expert'],
    ({ data, expert }) => {
      if (data % expert === 0) return undefined;
      const fits = nearest(divisorsOf(data), expert);
      return {
        key: 'expert',
        message: `expert ${expert} does not divide the ${data} data ranks.`,
        hint: `Use expert ${listed(fits)}.`,
        values: { data, expert, fits },
      };
    },
  ),
  rule(
    'EXPERT_TENSOR_NOT_OFFERED',
    ['torchtitan'],
    `${dims}: expert tensor parallelism is 1 or that of tensor`,
    ['tensor', 'expert', 'expertTensor'],
    ({ tensor, expert, expertTensor }) =>
      expert === 1 || expertTensor === 1 || expertTensor === tensor
        ? undefined
        : {
            key: 'expertTensor',
            message: `expertTensor ${expertTensor} is neither 1 nor the tensor ${tensor}.`,
            hint: tensor === 1 ? 'Use 1.' : `Use 1 or ${tensor}.`,
            values: { expertTensor, tensor, fits: [...new Set([1, tensor])] },
          },
  ),
  rule(
    'EXPERT_GRID_MOVES_PIPELINE',
    megatrons,
    'Megatron-LM, megatron/core/parallel_state.py: with tp-cp-ep-pp-dp the expert grid needs the dense data degree',
    ['pipelineBeforeData', 'tensor', 'expert', 'data', 'pipeline'],
    (
      { pipelineBeforeData, tensor, expert, data, pipeline },
      { expertTensor = tensor, experts = 0, context: cp = 1 },
    ) => {
      if (!pipelineBeforeData || experts === 0) return undefined;
      const expertData = (tensor * cp * data) / (expertTensor * expert);
      if (pipeline === 1 || expertData === data) return undefined;
      return {
        key: 'expert',
        message: `with pipeline before data the expert grid needs data ${data} and has ${expertData}.`,
        hint: 'Put pipeline last in the order of ranks.',
        values: { data, expertData, fits: [(tensor * cp) % expertTensor === 0 ? (tensor * cp) / expertTensor : 1] },
      };
    },
  ),
  rule(
    'OPTIMIZER_INSTANCES_NOT_DIVISIBLE',
    megatrons,
    'Megatron-LM, megatron/core/parallel_state.py: num_distributed_optimizer_instances divides data and expert data',
    ['optimizerInstances', 'data', 'tensor'],
    ({ optimizerInstances, data, tensor }, { context: cp = 1, expert = 1, expertTensor = tensor, experts = 0 }) => {
      const expertData = experts > 0 ? (tensor * cp * data) / (expertTensor * expert) : data;
      const sizes = [data * cp, ...(experts > 0 ? [expertData] : [])];
      if (sizes.every((size) => size % optimizerInstances === 0)) return undefined;
      const fits = nearest(commonDivisors(sizes.filter(Number.isInteger)), optimizerInstances);
      return {
        key: 'optimizerInstances',
        message: `${optimizerInstances} instances of the optimizer do not divide ${sizes.join(' and ')} data ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { optimizerInstances, sizes, fits },
      };
    },
  ),
];

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
