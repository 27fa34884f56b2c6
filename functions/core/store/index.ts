/** Public exports of this folder; its README lists its promises. */
export { askedAhead } from './asked-ahead.ts';
export {
  type BatchGetDeps,
  batchGet,
  changeItem,
  deleteItem,
  getItem,
  itemAt,
  putItem,
  putOf,
  queryAll,
  queryPage,
  queryPages,
  scanPage,
  scanPages,
  singleItem,
  transactItems,
} from './calls.ts';
export { tableOn } from './dynamo-calls.ts';
export { dynamoClient } from './dynamo-client.ts';
export { dynamoTable } from './dynamo-table.ts';
export { isNewer, versioned } from './item-version.ts';
export {
  ANNOUNCED_SK,
  CLOSING_SK,
  COUNTER_SK,
  DUE_SHARDS,
  ENTRY_SK_PREFIX,
  escapePart,
  IMPORTED_PARAMETER_SK_PREFIX,
  INBOX_SHARDS,
  INBOX_SK,
  INBOX_SLOT_MS,
  INSTANCES_PK,
  inboxSlot,
  type Key,
  type LedgerKeys,
  ledgerKeys,
  RECORD_SK,
  ROLLUP_SK,
  unescapePart,
} from './keys.ts';
export { MemoryTable } from './memory-table.ts';
export {
  type Answers,
  type AttributeValue,
  absent,
  all,
  any,
  atRev,
  begins,
  compare,
  type InstanceTable,
  type Item,
  type ItemCondition,
  type ItemPage,
  type ItemTable,
  type ItemWrite,
  itemBytes,
  keyOf,
  numberIs,
  type Operations,
  type PageEnd,
  type PutWrite,
  present,
  type QueryAsk,
  type RefusedItem,
  type ScanSegment,
  TimeLimit,
  TRANSACTION_ITEMS_MAX,
  type UpdateWrite,
} from './operation.ts';
export { type RelayBeat, readRelayBeats, SILENT_MS } from './relay-beats.ts';
export { signedTable } from './signed-table.ts';
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
  doubling,
  failureText,
  isConflict,
  isThrottle,
  LedgerError,
  retried,
  type TableFailure,
  unavailable,
} from './table-failure.ts';
export { dynamoYetFailed, type YetFailedMark, type YetFailedStore } from './yet-failed.ts';
