/** Public exports of this folder; its README lists its promises. */
export {
  type ClosedAdjustment,
  type ClosedStatement,
  chainBreak,
  dynamoStatementChain,
  type NumberedStatement,
  type SealedStatement,
  type StatementChain,
  sealed,
} from './closed-statement.ts';
export {
  dynamoPriceEditions,
  type PriceEditionStore,
  type SealedPriceChange,
} from './price-editions.ts';
