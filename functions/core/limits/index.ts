/** Public exports of this folder; its README lists its promises. */
export { type LoggedChange, loggedChangeOf, rowsOf } from './change-log.ts';
export type { ChangeRow, Effect, FieldValue } from './changes/change-row.ts';
export { type ChangeRowsInput, changeRows } from './changes/change-rows.ts';
export { binds } from './changes/effects.ts';
export {
  writtenBorrow,
  writtenCarry,
  writtenLend,
  writtenSoft,
  writtenThresholds,
  writtenWait,
} from './changes/fields.ts';
export { limitsByPlace } from './changes/limit-rows-between.ts';
export {
  CSV_COLUMNS,
  type CsvDialect,
  type CsvProblem,
  csvProblemText,
  type LimitFigures,
  PLAIN_CSV,
  type UnderstoodCell,
  understoodText,
} from './csv/columns.ts';
export { entryKey, entryPlaceOf, exportLimits } from './csv/export-limits.ts';
export { importLimits } from './csv/import-limits.ts';
export { idOf } from './csv/read-cells.ts';
export { type CsvRow, readRows } from './csv/read-rows.ts';
export { readThresholdsText, thresholdsText } from './csv/thresholds-text.ts';
export {
  type TotalChange,
  totalChanges,
  type WrittenTotal,
  writtenTotals,
} from './csv/totals.ts';
export { mayApprove } from './desk/approval/may-approve.ts';
export type { BreakGlassState } from './desk/break-glass-state.ts';
export type { LimitsDesk } from './desk/contract.ts';
export { createLimitsDesk } from './desk/create-limits-desk.ts';
export { baseOfFile, exportedLimits, NO_SET } from './desk/desk-reads.ts';
export type { HistoryPage, HistoryQuery, LogEntry } from './desk/history.ts';
export {
  type BreakGlassEdit,
  type LimitEdit,
  type LimitFields,
  SCALED_KINDS,
  type SetLimit,
} from './desk/limit-edit.ts';
export type {
  Asker,
  DecideOutcome,
  EditRequest,
  GrantAsk,
  LimitRequest,
  RequestedEdits,
  RequestOutcome,
  RequestVerdict,
} from './desk/limit-request.ts';
export type { LiveLimits } from './desk/live-limits.ts';
export type { ApplyOutcome, EditAuthor, Oversubscription, Preview } from './desk/outcome.ts';
export { oversubscriptionOf } from './desk/oversubscription.ts';
export { mayBeSame } from './desk/person.ts';
export { readDocument } from './desk/plan.ts';
export { readHistory } from './desk/read-history.ts';
export {
  isDecided,
  isOwn,
  isPending,
  readRequests,
  requesterOf,
  type StoredRequest,
} from './desk/request-items.ts';
export { mayDo, type RightsContext } from './desk/rights.ts';
export {
  ACT_WORDS,
  type Denial,
  type Rights,
  ROLES,
  type Role,
  type RoleName,
  whoMayText,
} from './desk/role.ts';
export { subjectOf } from './desk/subject-text.ts';
export { zoneOfSubject } from './desk/zone-of-subject.ts';
export { DynamoLimitTable, type DynamoLimitTableOptions } from './dynamo-limit-table.ts';
export type { LimitChange, LimitsDocument } from './limit-set.ts';
export { LimitStore } from './limit-store.ts';
export type { LimitPointer, LimitTable, OpeningEntry } from './limit-table.ts';
export { LimitsError } from './limits-error.ts';
export { type PreviousCounters, withOpenings } from './period-openings.ts';
export {
  chunkPartsOf,
  joined,
  PARTS_ATTRIBUTE,
  type PublishOutcome,
  publishLimits,
  readChange,
  readLimitSet,
} from './publish-limits.ts';
export { createUploads, type Uploads } from './uploads.ts';
