/** Codes of runs. */
export const runtime = {
  TYPE_NOT_EXECUTED: {
    meaning: 'The program computes in an element type that the runtime does not execute.',
    fix: 'Run the job in fp32 or bf16; other types are priced and planned only.',
  },
  RANKS_TOO_MANY: {
    meaning: 'The layout has more ranks than one machine runs as threads.',
    fix: 'Use smaller degrees; larger layouts are planned, priced and drawn.',
  },
  RUN_TOO_LARGE: {
    meaning: 'The job would hold more memory on all its ranks together than this machine has.',
    fix: 'Use a smaller model or batch of the same kind; the laws of a layout do not depend on the size.',
  },
  DATA_UNREADABLE: {
    meaning: 'A file of training data is not what its name says.',
    fix: 'Use plain text, JSONL with a text in each line, or 16-bit token ids (.bin).',
  },
  DATA_TOO_SHORT: {
    meaning: 'The training data has fewer tokens than a sample needs, in training or in the tenth that validates.',
    fix: 'Use more text or shorter samples.',
  },
  TOKEN_UNKNOWN: {
    meaning: 'The training data holds a token that is not in the vocabulary of the model.',
    fix: 'Use a vocabulary that holds it; tokens of text are bytes and need 256.',
  },
  KERNELS_MISSING: {
    meaning: 'OpenBLAS or the package that calls it was asked for and is not on this machine.',
    fix: 'Install OpenBLAS and koffi, name the library by MESHWRIGHT_OPENBLAS, or use the kernels that come along.',
  },
  TOKENIZER_MISSING: {
    meaning: 'A tokenizer.json was named, and the library that reads it is not installed.',
    fix: 'Install @huggingface/tokenizers beside meshwright, or train on bytes.',
  },
  TOKENIZER_UNREADABLE: {
    meaning: 'A file that was named as a tokenizer is none that its library reads.',
    fix: 'Use the tokenizer.json of a Hugging Face model.',
  },
  CHECKPOINT_MISSING: {
    meaning: 'The folder holds no complete checkpoint, or none of the step that was asked for.',
    fix: 'Run with --checkpoint-every first, or name another folder or step.',
  },
  CHECKPOINT_DAMAGED: {
    meaning: 'A file of a checkpoint or of weights is not what its index, header or hash says.',
    fix: 'Use an earlier checkpoint, or copy the files anew.',
  },
  CHECKPOINT_OF_ANOTHER: {
    meaning: 'The checkpoint is of another model, optimizer, text or run than the one that is asked for.',
    fix: 'Use the job and data that wrote it, or another folder.',
  },
  RUN_UNREADABLE: {
    meaning: 'A file is not what `meshwright run --json` writes, or a run of it did not come to its end.',
    fix: 'Write it with meshwright run JOB --json > run.json.',
  },
  RUN_OF_ANOTHER: {
    meaning: 'A measured run is of another job or layout than the simulation that it is laid over.',
    fix: 'Simulate the job that was run, under the layout that the message names.',
  },
  FOLDER_IN_USE: {
    meaning: 'Another run writes checkpoints into the same folder.',
    fix: 'Wait for it, or name another folder with --checkpoints.',
  },
} as const;
