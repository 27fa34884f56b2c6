/**
 * The constants of the contention model, in one place to be reviewed. DynamoDB Local never raises
 * TransactionConflict, so contention is modelled; every figure that rests on these is printed as "modelled".
 * `npm run bench:aws` measures the same in an account of yours.
 *
 * Sources: the 1000 write units per second an item can take, the doubled cost of transactional writes and the rule
 * that a transaction on an item held by another fails at once are documented
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html). The times are estimates.
 */
export const CONTENTION = {
  /** One way between function and table. */
  networkMs: 1,
  /** Median of a transaction inside DynamoDB; log-normal with this sigma. */
  transactionMs: 7,
  transactionSigma: 0.35,
  /** The share of that time for which a transaction holds its items against others. */
  heldShare: 0.7,
  /** Median of a write of one item without a transaction. */
  updateMs: 4,
  updateSigma: 0.35,
  /** Median of a consistent read. */
  readMs: 2,
  readSigma: 0.35,
  /** Per item: the limit of one partition, which adaptive capacity cannot pass. */
  itemWriteUnitsPerSecond: 1000,
  /** Each item of a transaction is prepared and committed. */
  transactionWriteUnitsPerItem: 2,
} as const;

/** What one undisturbed transaction takes in the model: the unit of the burst figure. */
export const MODELLED_TRANSACTION_MS = 2 * CONTENTION.networkMs + CONTENTION.transactionMs;
