/** Takes a user out of the sheets by which users are reported. */
import {
  addSumTo,
  eachSum,
  packedSums,
  type Sheet,
  type SheetStore,
  type SheetSum,
  USER_SHEET_DAYS,
} from '../../../functions/core/sheets/index.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';

interface ForgetInSheetsDeps {
  readonly sheets: SheetStore;
  readonly nowMs: number;
  /** Only says what would be changed. */
  readonly dryRun: boolean;
}

/** Zones are a day ahead at most, and what is due to go may stay for some days. */
const DAYS_BEYOND = 10;

/** Removes the user's costs from all rows. @returns the number of changed days. @throws {LedgerError} */
export async function forgetInSheets(
  userId: number,
  { sheets, nowMs, dryRun }: ForgetInSheetsDeps,
): Promise<number> {
  const today = Math.floor(nowMs / DAY_MS) + 1;
  const days = Array.from({ length: USER_SHEET_DAYS + DAYS_BEYOND }, (_, back) => dayOf(today - back));
  const read = await sheets.read(days.map((span) => ({ kind: 'user', span })));
  const naming = read.filter((sheet) => sheet?.names?.some(isOf(userId)) === true);
  for (const sheet of naming) if (sheet !== undefined && !dryRun) await sheets.write(without(userId, sheet));
  return naming.length;
}

const dayOf = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10);

const isOf =
  (userId: number) =>
  (name: string): boolean =>
    name.endsWith(`\n${userId}`);

function without(userId: number, sheet: Sheet): Sheet {
  const names = sheet.names ?? [];
  const kept = names.filter((name) => !isOf(userId)(name));
  const places = new Map(kept.map((name, place) => [name, place]));
  const rows = new Map<number, SheetSum>();
  eachSum(sheet, (row, sum) => {
    const place = places.get(names[row] ?? '');
    if (place !== undefined) addSumTo(rows, place, sum);
  });
  const { kind, span, days } = sheet;
  return { kind, span, ...withoutAbsent({ days }), names: kept, ...packedSums(rows) };
}
