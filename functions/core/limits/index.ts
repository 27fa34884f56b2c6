/** Public exports of this folder; its README lists its promises. */

export { type ChangeRowsInput, changeRows, limitsByPlace } from './change-rows.ts';
export { createLimitsDesk, readHistory } from './create-limits-desk.ts';
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
export { idOf, readThresholdsText, thresholdsText } from './csv/read-cells.ts';
export { type CsvRow, readRows } from './csv/read-rows.ts';
export {
  type TotalChange,
  totalChanges,
  type WrittenTotal,
  writtenTotals,
} from './csv/totals.ts';
export { DynamoLimitTable, type DynamoLimitTableOptions } from './dynamo-limit-table.ts';
export type {
  ApplyOutcome,
  Asker,
  BreakGlassState,
  DecideOutcome,
  EditAuthor,
  EditRequest,
  GrantAsk,
  HistoryPage,
  HistoryQuery,
  LimitRequest,
  LiveLimits,
  LogEntry,
  Oversubscription,
  Preview,
  RequestedEdits,
  RequestOutcome,
  RequestVerdict,
} from './edit-model.ts';
export {
  ACT_WORDS,
  type BreakGlassEdit,
  type Denial,
  type LimitEdit,
  type LimitFields,
  mayBeSame,
  type Rights,
  ROLES,
  type Role,
  type RoleName,
  SCALED_KINDS,
  type SetLimit,
  whoMayText,
} from './edit-model.ts';
export type { ChangeRow, Effect, FieldValue } from './limit-changes.ts';
export { binds } from './limit-changes.ts';
export type { LimitsDesk } from './limit-editing.ts';
export { baseOfFile, exportedLimits, NO_SET } from './limit-editing.ts';
export type { LimitChange, LimitsDocument } from './limit-set.ts';
export { LimitStore } from './limit-store.ts';
export type { LimitPointer, LimitTable, OpeningEntry } from './limit-table.ts';
export { createUploads, LimitsError, type Uploads } from './limit-table.ts';
export { oversubscriptionOf } from './oversubscription.ts';
export { type PreviousCounters, withOpenings } from './period-openings.ts';
export { readDocument, zoneOfSubject } from './plan-edits.ts';
export {
  chunkPartsOf,
  joined,
  type LoggedChange,
  loggedChangeOf,
  PARTS_ATTRIBUTE,
  type PublishOutcome,
  publishLimits,
  readChange,
  readLimitSet,
  rowsOf,
} from './publish-limits.ts';
export {
  isDecided,
  isOwn,
  isPending,
  readRequests,
  requesterOf,
  type StoredRequest,
} from './requests.ts';
export { mayApprove, mayDo, type RightsContext } from './rights.ts';
export { readField, subjectOf } from './subject-text.ts';
