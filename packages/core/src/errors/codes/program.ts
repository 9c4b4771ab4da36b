/** Codes of programs: what the verifier of the step program refuses. */
export const program = {
  PROGRAM_NAME_UNKNOWN: {
    meaning: 'A line names a buffer, parameter, template, axis or list that the program does not declare.',
    fix: 'Declare it, or use a declared name.',
  },
  PROGRAM_ORDER_WRONG: {
    meaning: 'Lines are not numbered from 1 in order, or a line needs the end of one that is not earlier.',
    fix: 'Number the lines in order and let each need earlier lines only.',
  },
  PROGRAM_OPERANDS_WRONG: {
    meaning: 'An operation has other operands than its kernel or collective takes.',
    fix: 'Give the operands of the row in the kernel table.',
  },
  PROGRAM_LANE_WRONG: {
    meaning: 'An operation stands on a lane that is not for its kind.',
    fix: 'Kernels run on compute, exchanges on the lane of their axis and direction.',
  },
  PROGRAM_ALGORITHM_WRONG: {
    meaning: 'A collective runs by an algorithm that does not take it.',
    fix: 'Trees take all-reduces; two tiers take a group of whole nodes, and nobody else names members of a node.',
  },
  PROGRAM_CALLS_WRONG: {
    meaning: 'A block does not pass forward and backward exactly once for a micro-batch.',
    fix: 'Call each block once in each direction for each micro-batch.',
  },
  BACKWARD_DIFFERS: {
    meaning: 'The backward of a block does not answer its forward kernel by kernel and parameter by parameter.',
    fix: 'Give each forward kernel its gradients, and each use of a parameter one gradient, once.',
  },
  READ_BEFORE_WRITE: {
    meaning: 'An operation reads a buffer that no earlier operation of the period writes.',
    fix: 'Write the buffer first, or move the read behind the write.',
  },
  WRITTEN_NEVER_READ: {
    meaning: 'An activation is computed or received and nothing reads it.',
    fix: 'Leave the operation out, or read its result.',
  },
  SHAPES_DISAGREE: {
    meaning: 'Dims that a kernel or exchange takes as one have different sizes.',
    fix: 'Declare the buffers with equal sizes.',
  },
  CUTS_DISAGREE: {
    meaning: 'Dims that a kernel or exchange takes as one are cut over different axes.',
    fix: 'Gather or scatter one of the operands first, or declare the cut that the operation leaves.',
  },
  DIM_NOT_WHOLE: {
    meaning: 'A kernel needs a dim whole that is cut over an axis.',
    fix: 'Gather the operand over that axis first.',
  },
  ATTENTION_NOT_COVERED: {
    meaning: 'Where ranks share a sequence, the queries of a rank do not meet the keys of every rank exactly once.',
    fix: 'Hand the keys on around all ranks, take each block once, and bring the gradients of keys home.',
  },
  PARTIAL_READ: {
    meaning: 'An operation reads a partial sum or maximum as if it were complete.',
    fix: 'Reduce it over the axis first.',
  },
  PARTIAL_STATES_DIFFER: {
    meaning: 'What is added into a buffer, or declared of it, has another partial state than what is there.',
    fix: 'Reduce both or neither before adding.',
  },
  BIAS_BEFORE_SUM: {
    meaning: 'A bias is added to a product before its partial results are summed, so it is counted once for each rank.',
    fix: 'Add the bias after the reduction.',
  },
  SUMMED_TWICE: {
    meaning: 'A reduction over an axis takes a value that is not partial over it, so it is counted once for each rank.',
    fix: 'Leave the reduction out.',
  },
  REDUCTION_DIFFERS: {
    meaning: 'A partial sum is reduced as a maximum, or the other way round.',
    fix: 'Reduce by the operation that the partial state names.',
  },
  MEAN_NOT_ALLOWED: {
    meaning: 'A reduction averages, or the seed of the loss is not 1 / tokens of the global batch.',
    fix: 'Keep every reduction a plain sum with factor 1 and the loss seed 1 / tokens.',
  },
  GATHER_NOT_CUT: {
    meaning: 'A gather over an axis takes a buffer that this axis does not cut, or does not cut innermost.',
    fix: 'Gather the axis that cuts the dim innermost, once.',
  },
  WEIGHTS_NOT_GATHERED: {
    meaning: 'A kernel reads weights of which a rank has only its own updated part.',
    fix: 'Gather the bucket over the data axis before its first use.',
  },
  GRADIENT_NOT_SUMMED: {
    meaning: 'The norm or the optimizer reads a gradient that is still partial over an axis.',
    fix: 'Sum the gradient over that axis first.',
  },
  TIED_NOT_SUMMED: {
    meaning: 'The norm or the optimizer reads the gradient of a shared parameter that its copies have not summed.',
    fix: 'Sum the bucket over the group that holds its copies.',
  },
  GRADIENT_MISSING: {
    meaning: 'A gradient is reduced or used that nothing wrote in this period.',
    fix: 'Write the gradient of every parameter of the bucket first.',
  },
  GRADIENT_UNUSED: {
    meaning: 'A gradient is written and neither reduced nor used.',
    fix: 'Reduce it, or give it to the optimizer.',
  },
  PLACE_WRONG: {
    meaning: 'An operation touches what lies in the memory of the other side: of the host, or of the device.',
    fix: 'Copy it to the memory of that side first.',
  },
  OPTIMIZER_INCOMPLETE: {
    meaning: 'The optimizer does not update each bucket exactly once, with its gradient, weights and state.',
    fix: 'Give the optimizer the gradient, weights and state of every bucket of the list.',
  },
  NORM_COUNTED_TWICE: {
    meaning: 'The global norm counts a gradient more than once.',
    fix: 'Count whole parameters on one coordinate only, or leave the sum over the axis out.',
  },
  NORM_NOT_SUMMED: {
    meaning: 'The global norm is used before it is summed over an axis that splits the gradients.',
    fix: 'Sum it over every axis that splits parameters.',
  },
  NORM_MISSED: {
    meaning: 'The global norm leaves a gradient out.',
    fix: 'Count every bucket, and split parameters on every coordinate.',
  },
  RESULT_PARTIAL: {
    meaning: 'A result of the period is still partial over an axis.',
    fix: 'Reduce it before the period ends.',
  },
  EXCHANGE_UNMATCHED: {
    meaning: 'A send has no receive of its buffer on the peer, a receive no send, or one has several.',
    fix: 'Give every send exactly one receive.',
  },
  EXCHANGE_BYTES_DIFFER: {
    meaning: 'The two sides of an exchange have different bytes.',
    fix: 'Declare the buffer alike on both sides.',
  },
  EXCHANGE_ORDER_DIFFERS: {
    meaning: 'Two ranks send and receive on one lane in different orders.',
    fix: 'Put the receives in the order of the sends.',
  },
  COLLECTIVE_ORDER_DIFFERS: {
    meaning: 'Members of a group issue its collectives in different orders, or not all of them.',
    fix: 'Let every member issue the same collectives in the same order.',
  },
  DEADLOCK: {
    meaning: 'Operations on in-order lanes wait for each other in a circle.',
    fix: 'Move the operation that is waited for in front of the one that waits.',
  },
} as const;
