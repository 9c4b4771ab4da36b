/** Codes of clusters. */
export const cluster = {} as const;
