/** Codes of jobs. */
export const job = {
  BATCH_NOT_A_MULTIPLE: {
    meaning: 'The batch in tokens is not a whole number of sequences.',
    fix: 'Use one of the two nearest batches that are.',
  },
  BATCH_CONTRADICTS: {
    meaning: 'The batch is given both in sequences and in tokens, and the two differ.',
    fix: 'Keep one of the two.',
  },
  BATCH_BEYOND_LIMIT: {
    meaning: 'The global batch is larger than the largest batch that the job says still trains well.',
    fix: 'Use fewer sequences, or raise batch.max when you know that the larger batch trains well.',
  },
  LENGTH_OVER_POSITIONS: {
    meaning: 'Sequences are longer than the table of learned positions.',
    fix: 'Shorten the sequences, or give the model more positions.',
  },
  LENGTH_OVER_MODEL: {
    meaning: 'Sequences are longer than the longest that the model states.',
    fix: 'Shorten the sequences unless you extend the context on purpose.',
  },
  PRECISION_NOT_ON_DEVICE: {
    meaning: 'The device has no matrix products of the element type that the job computes in.',
    fix: 'Use a precision that the device has.',
  },
  PACKED_PRICED_WHOLE: {
    meaning: 'Sequences hold several documents, and attention is priced as if each held one.',
    fix: 'Take the time of attention as an upper bound.',
  },
  ADAPTER_TARGET_UNKNOWN: {
    meaning: 'A target of adapters names no linear layer of the blocks of the model.',
    fix: 'Use the names of modules that the message lists, or all-linear.',
  },
  ADAPTER_NOT_MODELLED: {
    meaning: 'Adapters stand beside layers for which step programs have none: experts, routers, latent attention.',
    fix: 'Put adapters on the attention, or train all weights with sft.',
  },
  LAYOUT_KEY_NOT_YET: {
    meaning: 'A layout key is part of the contract but only its default is priced yet.',
    fix: 'Leave the key out or give its default.',
  },
} as const;
