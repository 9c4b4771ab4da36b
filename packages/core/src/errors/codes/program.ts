/** Codes of programs. */
export const program = {} as const;
