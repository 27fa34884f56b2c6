/** Public exports of this folder; its README lists its promises. */
export { type ChangeRowsInput, changeRows, limitsByPlace } from './change-rows.ts';
export { createLimitsDesk, type LimitsDesk } from './create-limits-desk.ts';
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
export { readThresholdsText, thresholdsText } from './csv/read-cells.ts';
export { type CsvRow, readRows } from './csv/read-rows.ts';
export { type TotalChange, totalChanges, type WrittenTotal, writtenTotals } from './csv/totals.ts';
export {
  chunkPartsOf,
  DynamoLimitTable,
  type DynamoLimitTableOptions,
  joined,
  PARTS_ATTRIBUTE,
} from './dynamo-limit-table.ts';
export {
  type ApplyOutcome,
  type Asker,
  type BreakGlassEdit,
  type BreakGlassState,
  type DecideOutcome,
  type Denial,
  type EditAuthor,
  type EditRequest,
  type GrantAsk,
  type HistoryPage,
  type HistoryQuery,
  type LimitEdit,
  type LimitFields,
  type LimitRequest,
  type LiveLimits,
  type LogEntry,
  mayBeSame,
  type Oversubscription,
  type Preview,
  type RequestedEdits,
  type RequestOutcome,
  type RequestVerdict,
  type Rights,
  type Role,
  type RoleName,
  SCALED_KINDS,
  type SetLimit,
} from './edit-model.ts';
export { binds, type ChangeRow, type Effect, type FieldValue } from './limit-changes.ts';
export { baseOfFile, exportedLimits, NO_SET, readHistory } from './limit-reads.ts';
export type { LimitChange, LimitsDocument } from './limit-set.ts';
export { LimitStore } from './limit-store.ts';
export {
  createUploads,
  type LimitPointer,
  LimitsError,
  type LimitTable,
  type OpeningEntry,
  type Uploads,
} from './limit-table.ts';
export { oversubscriptionOf } from './oversubscription.ts';
export { type PreviousCounters, withOpenings } from './period-openings.ts';
export { readDocument, zoneOfSubject } from './plan-edits.ts';
export {
  type LoggedChange,
  loggedChangeOf,
  type PublishOutcome,
  publishLimits,
  readChange,
  readLimitSet,
  rowsOf,
} from './publish-limits.ts';
export { isDecided, isOwn, isPending, readRequests, requesterOf, type StoredRequest } from './requests.ts';
export { ACT_WORDS, mayApprove, mayDo, type RightsContext, ROLES, whoMayText } from './rights.ts';
export { idOf, kindOf, readField, subjectOf } from './subject-text.ts';
