import type { Builder } from './builder.ts';

/** Factor of a product that ends a residual branch, where the model has one. */
export const branchFactor = ({ context }: Builder): { readonly factor: number } | undefined =>
  context.model.residualScale === undefined ? undefined : { factor: context.model.residualScale };
