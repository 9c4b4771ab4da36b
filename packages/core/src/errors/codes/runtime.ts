/** Codes of runs. */
export const runtime = {
  TYPE_NOT_EXECUTED: {
    meaning: 'The program computes in an element type that the runtime does not execute.',
    fix: 'Run the job in fp32 or bf16; other types are priced and planned only.',
  },
} as const;
