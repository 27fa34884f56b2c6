/** Public exports of this folder; its README lists its promises. */

export { NO_AMOUNTS } from './amounts.ts';
export {
  type ArmOutcome,
  type CanaryOutcome,
  dynamoCanaryOutcomes,
  type RouterPatience,
} from './canary-outcome.ts';
export { type ClosedPeriods, createClosing } from './close-periods.ts';
export {
  type ControllerScope,
  type ControllerScopeStore,
  dynamoControllerScope,
  followsNoAnswer,
  isOutOfScope,
  scopeAfter,
} from './controller-scope.ts';
export { decodeCounter, decodeItem } from './counter-item.ts';
export { createLedger } from './create-ledger.ts';
export { deployedTable, onOwnBooks } from './deployed-table.ts';
export { DynamoStore } from './dynamo-store.ts';
export { recordItem } from './dynamo-write.ts';
export type { CorrectionEntry, EntryCause } from './entry.ts';
export { inboxBody, inboxItem, journalBody } from './inbox-item.ts';
export {
  dynamoInstanceRegister,
  type InstanceRegister,
  type KnownInstance,
  REGISTER_TIMEOUT_MS,
  registerKey,
} from './instance-register.ts';
export { draftRecord, GRACE_SECONDS, newJob } from './job.ts';
export { dynamoRecountRounds } from './kept-round.ts';
export type {
  AcceptsEnd,
  BypassAsk,
  Counter,
  CounterAmounts,
  Drift,
  DueJob,
  EndOutcome,
  GoneJob,
  HoldAsk,
  HoldOptions,
  HoldOutcome,
  JobEnd,
  JobFacts,
  JobRecord,
  JobState,
  Ledger,
  RebuildReport,
  RecordClaim,
  ReserveAsk,
  UncheckedCause,
  UnmeteredAsk,
  WaitAsk,
} from './ledger.ts';
export {
  MemoryStore,
  type MemoryStoreOptions,
  type StoreFault,
  type StoreOperation,
} from './memory-store.ts';
export { type KnownCounter, knownCounter, packs } from './merge.ts';
export type { CounterChange } from './move.ts';
export { dynamoPseudonymKeys, type PseudonymKeys, pseudonymOf, yearOf } from './pseudonym-keys.ts';
export {
  dynamoRecountOutcomes,
  isRecountLate,
  mendedMs,
  type RecountOutcome,
  type RecountOutcomes,
  recountOutcome,
} from './recount-outcome.ts';
export {
  type RecordVisit,
  type RecountRounds,
  recountOn,
  roundMs,
  type UsageLook,
} from './recount-round.ts';
export { kept, replaceUserIds } from './replace-user-ids.ts';
export { dynamoReportedEnds, type ReportedEnds } from './reported-ends.ts';
export { isAwaited, isReserved, reservedClaims } from './reservation.ts';
export { goesUnclosed, isWindow, recordExpiresAtSeconds } from './retention.ts';
export { expireMove, isExpiredCharged, isLive, releaseMove, settleMove } from './settle.ts';
export type {
  Announcement,
  ClosingStore,
  Consistency,
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
export { dynamoSweepMarks, type RunnerMark, type SweepMarkStore, type SweepMarks } from './sweep-marks.ts';
export { ranRejected, wasRejected } from './unmetered.ts';
export { type KeptJob, nameless, namesNeedlessly, userIdOf, userIdsIn } from './user-ids.ts';
export { weigh } from './weigh.ts';
export { writeUnits } from './write-units.ts';
