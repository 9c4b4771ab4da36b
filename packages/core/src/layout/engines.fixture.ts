/** @file The launch checks of six engines, restated from their own code, statement by statement, and from nothing of ours:
 * an engine accepts a run when none of its assertions fails. Sources: Megatron-LM megatron/training/arguments.py,
 * core/parallel_state.py, core/transformer/transformer_config.py, core/num_microbatches_calculator.py and
 * core/pipeline_parallel/schedules.py; torchtitan distributed/parallel_dims.py and pipeline_parallel.py with PyTorch's
 * pipelining/schedules.py; DeepSpeed runtime/config.py, runtime/pipe/engine.py and utils/groups.py; accelerate
 * parallelism_config.py with transformers' tensor parallelism; nanotron parallel/context.py and models/llama.py.
 */

/** A launch in the engines' own abbreviations. */
export interface Launch {
  readonly world: number;
  readonly L: number;
  readonly heads: number;
  readonly kv: number;
  readonly hidden: number;
  /** Size of a head is given. */
  readonly kvChannels: boolean;
  readonly E: number;
  readonly tp: number;
  readonly pp: number;
  readonly cp: number;
  readonly ep: number;
  readonly etp: number;
  readonly dp: number;
  readonly zero: number;
  readonly vpp: number;
  readonly schedule: string;
  readonly uneven: boolean;
  readonly sp: boolean;
  readonly reduceFp32: boolean;
  readonly tpPpDp: boolean;
  readonly gbs: number;
  readonly mbs: number;
  readonly s: number;
}

type Engine = (launch: Launch, must: (holds: boolean) => void) => void;

const megatron: Engine = (a, must) => {
  // parallel_state: initialize_model_parallel
  must(a.world % (a.tp * a.pp * a.cp) === 0);
  must(a.world % (a.etp * a.ep * a.pp) === 0);
  const dp = a.world / (a.tp * a.pp * a.cp);
  must(dp === a.dp);
  if (a.tpPpDp && a.E > 0 && a.pp > 1) must(dp === a.world / (a.etp * a.ep * a.pp));
  // num_microbatches_calculator
  must(a.gbs % (a.mbs * a.dp) === 0);
  // transformer_config
  must(a.heads % a.tp === 0);
  must(a.kv % a.tp === 0 || a.tp % a.kv === 0);
  must(a.kvChannels || a.hidden % a.heads === 0);
  if (a.ep > 1) must(a.E > 0);
  must(a.E % a.ep === 0);
  // arguments: a split that is not written out is even
  if (!a.uneven) {
    must(a.L % a.pp === 0);
    if (a.vpp > 1 && a.L % a.pp === 0) must((a.L / a.pp) % a.vpp === 0);
  }
  if (a.vpp > 1) must(a.pp > 1);
  if (a.cp > 1) must(a.s % (2 * a.cp) === 0);
  if (a.sp) {
    must(a.tp > 1);
    must(a.s % a.tp === 0);
  }
  // moe_layer: training with tensor ranks needs sequence parallelism
  if (a.E > 0 && a.tp > 1) must(a.sp);
  // schedules: groups of pp micro-batches
  const m = a.gbs / (a.mbs * a.dp);
  if (a.vpp > 1 && a.pp > 1 && Number.isInteger(m)) must(m >= a.pp && (m % a.pp === 0 || m % a.pp >= a.pp));
};

const torchtitan: Engine = (a, must) => {
  // parallel_dims
  must(a.dp * a.cp * a.tp * a.pp === a.world);
  must((a.dp * a.cp * a.tp) % a.ep === 0);
  if (a.ep > 1) must(a.etp === a.tp || a.etp === 1);
  if (a.cp > 1) must(a.s % (a.tp * 2 * a.cp) === 0);
  if (a.sp) must(a.s % a.tp === 0);
  // models
  must(a.heads % a.tp === 0);
  must(a.kv % a.tp === 0);
  must(a.gbs % (a.mbs * a.dp) === 0);
  must(a.reduceFp32);
  // pipeline_parallel
  if (a.pp * a.vpp > 1) {
    // Embedding and head weigh a layer each, which fits into any stage that has one.
    must(a.pp * a.vpp <= a.L + 2);
  }
  if (a.pp > 1) {
    const single = a.schedule === '1f1b' || a.schedule === 'gpipe';
    if (single) must(a.vpp === 1);
    else if (a.schedule !== 'none') must(a.vpp >= 2);
    const m = a.gbs / (a.mbs * a.dp);
    if (a.schedule === 'interleaved-1f1b' && Number.isInteger(m)) must(m % Math.max(1, Math.floor(m / a.pp)) === 0);
  }
};

const deepspeed: Engine = (a, must) => {
  must(a.dp * a.tp * a.pp * a.cp === a.world);
  must(a.dp % a.ep === 0);
  must(a.E % a.ep === 0);
  // config: train_batch = micro_batch x accumulation x world
  must(Number.isInteger(a.gbs / (a.mbs * a.dp)));
  // AutoTP
  must(a.heads % a.tp === 0 && a.kv % a.tp === 0);
  // Ulysses
  must(a.heads % a.cp === 0 && (a.kv % a.cp === 0 || a.cp % a.kv === 0));
  if (a.cp > 1) must(a.tp === 1 && a.pp === 1);
  // PipelineEngine
  if (a.pp > 1) {
    must(a.zero < 2);
    must(a.schedule === '1f1b');
  }
  must(a.L >= a.pp * a.vpp);
  if (a.E > 0) must(a.zero < 3);
};

const fsdp: Engine = (a, must) => {
  must(a.pp === 1);
  must(a.dp * a.cp * a.tp * a.pp === a.world);
  must(a.heads % a.tp === 0);
  must(a.kv % a.tp === 0);
  must(a.gbs % (a.mbs * a.dp) === 0);
};

const nanotron: Engine = (a, must) => {
  must(a.tp * a.pp * a.cp * a.dp === a.world);
  // expert data ranks are what expert tensor, expert and pipeline ranks leave
  must(Number.isInteger(a.world / (a.etp * a.ep * a.pp)));
  must(a.heads % a.tp === 0);
  must(a.kv % a.tp === 0);
  must(a.zero <= 1);
  must(a.gbs % (a.mbs * a.dp) === 0);
  if (a.pp > 1) {
    must(a.schedule === '1f1b' || a.schedule === 'gpipe');
    const m = a.gbs / (a.mbs * a.dp);
    if (a.schedule === '1f1b' && Number.isInteger(m)) must(m >= a.pp - 1);
  }
};

const engines = { megatron, nemo: megatron, torchtitan, deepspeed, fsdp, nanotron };
export type EngineName = keyof typeof engines;
export const engineNames = Object.keys(engines) as readonly EngineName[];

/** The engine starts the run. */
export function accepts(engine: EngineName, launch: Launch): boolean {
  let fine = true;
  engines[engine](launch, (holds) => {
    fine &&= holds;
  });
  return fine;
}
