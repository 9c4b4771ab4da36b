/** @file All strategies beside each other: what each splits, keeps, sends, and over which link. */

/** A row of the table of strategies. */
export interface StrategyWords {
  readonly name: string;
  readonly splits: string;
  readonly state: string;
  readonly sends: string;
  readonly link: string;
}

/** The strategies beside each other. Psi parameters, N data ranks, t tensor, p stages, m micro-batches. */
export const strategies: readonly StrategyWords[] = [
  {
    name: 'data (DDP)',
    splits: 'the batch',
    state: '16 Psi',
    sends: '2 (N-1)/N g Psi, once a step',
    link: 'network; hides behind backward',
  },
  { name: 'ZeRO-1', splits: 'and the optimizer', state: '(4 + 12/N) Psi', sends: 'as DDP', link: 'network' },
  {
    name: 'ZeRO-2',
    splits: 'and gradients',
    state: '(2 + 14/N) Psi',
    sends: 'as DDP when gradients are reduced once',
    link: 'network',
  },
  {
    name: 'ZeRO-3 (FSDP)',
    splits: 'and weights',
    state: '16 Psi/N',
    sends: '1.5 times DDP for one micro-batch',
    link: 'network; needs enough tokens to hide',
  },
  {
    name: 'tensor',
    splits: 'every matrix',
    state: '16 Psi/t',
    sends: '4 all-reduces of s b h a layer and micro-batch',
    link: 'inside the node',
  },
  {
    name: 'pipeline',
    splits: 'the layers',
    state: '16 Psi/p',
    sends: 's b h at each boundary, both ways',
    link: 'any; idles (p-1)/(m+p-1)',
  },
  {
    name: 'sequence with tensor',
    splits: 'activations between products',
    state: 'as tensor',
    sends: 'as tensor: each all-reduce is a scatter and a gather',
    link: 'inside the node',
  },
  {
    name: 'context (ring)',
    splits: 'the sequence',
    state: '16 Psi; shared like data ranks',
    sends: '(3 C - 2) pieces of keys and values a layer',
    link: 'network; hides behind attention',
  },
  {
    name: 'expert',
    splits: 'the experts of each layer',
    state: '16 Psi of the experts / E',
    sends: '4 (E-1)/E b s k h a layer',
    link: 'the fastest that reaches all E',
  },
];
