import type { Issue } from '@meshwright/core/errors';

/** Whether an issue stops. */
export const isError = ({ severity }: Issue): boolean => severity === 'error';
