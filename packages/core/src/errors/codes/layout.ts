/** Codes of layouts. */
export const layout = {} as const;
