/** Public exports of this folder; its README lists its promises. */
export {
  type ClosedAdjustment,
  type ClosedStatement,
  chainBreak,
  type SealedStatement,
  sealed,
} from './closed-statement.ts';
export {
  dynamoPriceEditions,
  type PriceEditionStore,
  type SealedPriceChange,
} from './price-editions.ts';
export { dynamoStatementChain, type NumberedStatement, type StatementChain } from './statement-chain.ts';
