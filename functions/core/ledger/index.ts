/** Public exports of this folder; its README lists its promises. */

export {
  dynamoRecountOutcomes,
  dynamoReportedEnds,
  dynamoSweepMarks,
  isRecountLate,
  mendedMs,
  type RecountOutcome,
  type RecountOutcomes,
  type ReportedEnds,
  type RunnerMark,
  recountOutcome,
  type SweepMarkStore,
  type SweepMarks,
} from './checkpoints.ts';
export {
  type ArmOutcome,
  type CanaryOutcome,
  type ControllerScope,
  type ControllerScopeStore,
  dynamoCanaryOutcomes,
  dynamoControllerScope,
  followsNoAnswer,
  isOutOfScope,
  type RouterPatience,
  scopeAfter,
} from './controller.ts';
export { type KnownCounter, knownCounter, packs } from './counter.ts';
export { createLedger } from './create-ledger.ts';
export { DynamoStore } from './dynamo-store.ts';
export { draftRecord, GRACE_SECONDS, newJob } from './hold-job.ts';
export {
  deployedTable,
  dynamoInstanceRegister,
  type InstanceRegister,
  type KnownInstance,
  onOwnBooks,
  REGISTER_TIMEOUT_MS,
  registerKey,
} from './instances.ts';
export {
  decodeCounter,
  decodeItem,
  inboxBody,
  inboxItem,
  journalBody,
  recordItem,
  writeUnits,
} from './items.ts';
export type {
  AcceptsEnd,
  BypassAsk,
  CorrectionEntry,
  Counter,
  CounterAmounts,
  Drift,
  DueJob,
  EndOutcome,
  EntryCause,
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
export type { CounterChange } from './move.ts';
export { type ClosedPeriods, createClosing } from './rebuild.ts';
export { NO_AMOUNTS } from './recount.ts';
export {
  dynamoRecountRounds,
  type RecordVisit,
  type RecountRounds,
  recountOn,
  roundMs,
  type UsageLook,
} from './recount-round.ts';
export { isAwaited, isReserved, reservedClaims } from './reservation.ts';
export { goesUnclosed, isWindow, recordExpiresAtSeconds } from './retention.ts';
export {
  expireMove,
  isExpiredCharged,
  isLive,
  ranRejected,
  releaseMove,
  settleMove,
  wasRejected,
} from './settle.ts';
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
export {
  dynamoPseudonymKeys,
  type KeptJob,
  kept,
  nameless,
  namesNeedlessly,
  type PseudonymKeys,
  pseudonymOf,
  replaceUserIds,
  userIdOf,
  userIdsIn,
  yearOf,
} from './user-ids.ts';
export { weigh } from './weigh.ts';
