/** Codes of models. */
export const model = {
  MODEL_NOT_SUPPORTED: {
    meaning: 'The architecture has parts that are not modelled, so its numbers would be wrong.',
    fix: 'Use a supported architecture, or give the dimensions of the nearest one.',
  },
  MODEL_CONTRADICTS: {
    meaning: 'Two keys of a model say different things.',
    fix: 'Correct or remove one of the two.',
  },
  HEAD_SIZE_NOT_WHOLE: {
    meaning: 'The width is not a multiple of the number of heads and no head size is given.',
    fix: 'Use a number of heads that divides the width, or give the head size.',
  },
  HEAD_SIZE_ODD: {
    meaning: 'Rotary positions turn pairs of values, and the head size is odd.',
    fix: 'Use an even head size.',
  },
  KV_HEADS_NOT_DIVISOR: {
    meaning: 'Query heads cannot be shared evenly by the key and value heads.',
    fix: 'Use a number of key and value heads that divides the number of heads.',
  },
  TOP_K_OVER_EXPERTS: {
    meaning: 'A token is sent to more experts than there are.',
    fix: 'Use at most as many as there are experts.',
  },
  MODEL_TOO_LARGE: {
    meaning: 'The model has more parameters than this program counts exactly.',
    fix: 'Check the dimensions.',
  },
  MODEL_DEFAULT_ASSUMED: {
    meaning: 'Keys are absent and the documented default of the architecture stands in for them.',
    fix: 'Give the keys if the model differs.',
  },
  MODEL_PART_LEFT_OUT: {
    meaning: 'A part of the model beside its language model is not modelled, and not counted.',
    fix: 'Nothing to do where only the language model is trained.',
  },
  MODEL_NOT_COMPILED: {
    meaning: 'The layers of this model are read and counted, and a step program cannot hold them yet.',
    fix: 'Use `meshwright model` for its numbers, or plan the nearest model that compiles.',
  },
  CONFIG_KEY_IGNORED: {
    meaning: 'A key of the model file is known but has no effect on what is planned.',
    fix: 'Nothing to do if that is what you expect.',
  },
} as const;
