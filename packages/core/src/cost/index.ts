/** @file Prices of work and exchanges. */
export type {
  Assumption,
  ExchangeAlgorithm,
  ExchangeRequest,
  LinkDescription,
  PriceOptions,
  Prices,
} from './price-types.ts';
export { createPrices } from './prices.ts';
