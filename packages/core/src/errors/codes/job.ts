/** Codes of jobs. */
export const job = {} as const;
