/** Codes of models. */
export const model = {} as const;
