/** @file Prices of work and exchanges. */
export type {
  Assumption,
  ExchangeAlgorithm,
  ExchangeRequest,
  LinkDescription,
  PriceOptions,
  Prices,
} from './price-types.ts';
export { createPriceBook, createPrices, type PriceBook } from './prices.ts';
