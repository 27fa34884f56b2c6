/** What others may use of this folder; its README says what it promises. */
export { type BatchGetDeps, batchGet } from './batch-get.ts';
export { deleteItem } from './delete.ts';
export { dynamoClient } from './dynamo-client.ts';
export { dynamoTable } from './dynamo-table.ts';
export { getItem } from './get.ts';
export { type AttributeValue, type Item, itemBytes } from './item-bytes.ts';
export { isNewer, versioned } from './item-version.ts';
export {
  ADJUSTMENT_SK_PREFIX,
  ANNOUNCED_SK,
  CLOSING_SK,
  COUNTER_SK,
  DUE_SHARDS,
  ENTRY_SK_PREFIX,
  escapePart,
  INBOX_SK,
  INSTANCES_PK,
  type Key,
  type LedgerKeys,
  ledgerKeys,
  PARAMETER_MARK_SK_PREFIX,
  RECORD_SK,
  ROLLUP_SK,
  unescapePart,
} from './keys.ts';
export { LedgerError } from './ledger-error.ts';
export { MemoryTable } from './memory-table.ts';
export {
  type Answers,
  absent,
  all,
  any,
  atRev,
  begins,
  compare,
  type InstanceTable,
  type ItemCondition,
  type ItemPage,
  type ItemTable,
  type ItemWrite,
  keyOf,
  numberIs,
  type Operations,
  type PutWrite,
  present,
  type RefusedItem,
  TimeLimit,
  TRANSACTION_ITEMS_MAX,
  type UpdateWrite,
} from './operation.ts';
export { itemAt, putItem, putOf } from './put.ts';
export { queryAll, queryPage, queryPages } from './query.ts';
export { type RelayBeat, readRelayBeats, SILENT_MS } from './relay-beats.ts';
export { doubling, retried } from './retried.ts';
export { scanPages } from './scan.ts';
export { singleItem } from './single-item.ts';
export { DUE_AT, DUE_PK, ledgerTable, PK, SK, TTL_ATTRIBUTE } from './table.ts';
export {
  type ItemChange,
  type ItemSpan,
  type KeptItems,
  TableEvaluation,
  TOKEN_MEMORY_MS,
} from './table-evaluation.ts';
export {
  answered,
  failureText,
  isConflict,
  isThrottle,
  type TableFailure,
  unavailable,
} from './table-failure.ts';
export { transactItems } from './transact.ts';
export { changeItem } from './update.ts';
