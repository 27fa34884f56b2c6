/** What others may use of this folder; its README says what it promises. */
export {
  addSum,
  addSumTo,
  eachLaterRow,
  eachRow,
  eachSum,
  emptySum,
  FIGURES,
  packedSums,
  type SheetFigure,
  type SheetSum,
  sumOfTally,
  sumWithout,
  WHOLE,
} from './sheet-rows.ts';
export {
  dynamoSheetStore,
  JOB_SHEET_KINDS,
  type JobSheetKind,
  jobRowName,
  type PackedDay,
  type Sheet,
  type SheetKind,
  type SheetStore,
  scheduleRowKey,
  sheetExpiresAtSeconds,
  USER_SHEET_DAYS,
} from './sheet-store.ts';
