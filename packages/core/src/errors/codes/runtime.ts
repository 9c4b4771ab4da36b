/** Codes of runs. */
export const runtime = {} as const;
