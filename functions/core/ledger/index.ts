/** What others may use of this folder; its README says what it promises. */
export type { ClosedPeriods } from './close-periods.ts';
export {
  type ControllerScope,
  type ControllerScopeStore,
  followsNoAnswer,
  isOutOfScope,
  scopeAfter,
} from './controller-scope.ts';
export { createClosing } from './create-closing.ts';
export { createLedger } from './create-ledger.ts';
export { deployedTable } from './deployed-table.ts';
export { draftRecord, GRACE_SECONDS } from './draft.ts';
export type { DueJob } from './due-job.ts';
export { dynamoControllerScope } from './dynamo-controller-scope.ts';
export { dynamoInstanceRegister } from './dynamo-instance-register.ts';
export { dynamoSweepMarks } from './dynamo-marks.ts';
export { dynamoPseudonymKeys } from './dynamo-pseudonym-keys.ts';
export { dynamoRecountOutcomes } from './dynamo-recount-outcomes.ts';
export { DynamoStore } from './dynamo-store.ts';
export type { CorrectionEntry, EntryCause } from './entry.ts';
export { inboxBody, inboxItem } from './inbox-item.ts';
export type { InstanceRegister, KnownInstance } from './instance-register.ts';
export { CLOSED_AT, decodeItem, REV } from './item.ts';
export { newJob } from './job.ts';
export { REGISTER_TIMEOUT_MS } from './known-instances.ts';
export type {
  BypassAsk,
  Counter,
  CounterAmounts,
  Drift,
  EndOutcome,
  GoneJob,
  HoldAsk,
  HoldOutcome,
  JobEnd,
  JobFacts,
  JobRecord,
  JobState,
  Ledger,
  RebuildReport,
  RecordClaim,
  UncheckedCause,
  UnmeteredAsk,
} from './ledger.ts';
export {
  MemoryStore,
  type MemoryStoreOptions,
  type StoreFault,
  type StoreOperation,
} from './memory-store.ts';
export { packs } from './merge.ts';
export { type CounterChange, changesBetween, mergeChanges } from './move.ts';
export { onOwnBooks } from './own-books.ts';
export { adjustedIn, closingIn, counterIn } from './period-items.ts';
export { type PseudonymKeys, pseudonymOf, yearOf } from './pseudonym-keys.ts';
export { recordItem } from './record-size.ts';
export { type RecountOutcome, type RecountOutcomes, recountOutcome } from './recount-outcome.ts';
export { ranRejected, wasRejected } from './rejected.ts';
export { kept, replaceUserIds } from './replace-user-ids.ts';
export { expiring, recordExpiresAtSeconds } from './retention.ts';
export { expireMove, isExpiredCharged, isLive, releaseMove, settleMove } from './settle.ts';
export type {
  Announcement,
  ClosingStore,
  CounterWrite,
  InboxItem,
  InboxStore,
  LedgerStore,
  ReadOptions,
  Refusal,
  RewriteStore,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from './store.ts';
export type { RunnerMark, SweepMarkStore, SweepMarks } from './sweep-marks.ts';
export { type KeptJob, nameless, namesNeedlessly, userIdOf, userIdsIn } from './user-ids.ts';
export { weigh } from './weigh.ts';
export type { KnownCounter } from './weighing.ts';
export { writeUnits } from './write-units.ts';
