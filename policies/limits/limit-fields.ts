/**
 * Every field of a limit, once. Documents, CSV, edits, the API, forms, flags, diffs and help read this table. A new field needs its row
 * here, and its meaning: `readLimit`, and what the ledger does with it.
 */
import { MODES } from '../mode.ts';
import { isAtOnce, isAwaitable, isSpent, outageOfKind } from '../unit.ts';
import { type Limit, OUTAGE_POLICIES, SHARE_PARTS } from './limit.ts';
import { PERIOD_KINDS } from './period.ts';

export interface LimitField {
  /** Key in limits.yaml, in edits, in the API and in the change log. */
  readonly name: string;
  /** `part`: a share of the limit (`80%`) or an amount in its unit. `percents`: of the limit or its forecast. */
  readonly type: 'part' | 'choice' | 'word' | 'text' | 'day' | 'percents';
  readonly choices?: readonly string[];
  readonly choiceTexts?: Readonly<Record<string, string>>;
  /** For people: the heading of its form field, and a sentence for forms, the API and the command line. */
  readonly label: string;
  readonly help: string;
  readonly example?: string | readonly (string | number)[];
  readonly column?: string;
  /** Name in rows of the API, where it stands as it was written. @default left out, or part of another field */
  readonly row?: string;
  /** @default the name with dashes */
  readonly flag?: string | undefined;
  /** Limits whose form has it. The form of a new limit has all fields with this entry. @default none */
  readonly form?: (limit: FormLimit) => boolean;
  readonly written: (limit: Limit) => Written | undefined;
  /** Its effect on jobs. More of it loosens the limit. Absent: it has no effect on jobs. `any`: every change may loosen it. */
  readonly reach?: ((limit: Limit) => number) | 'any';
}

type FormLimit = Pick<Limit, 'kind' | 'per'> & { readonly each?: string | undefined };
type Written = string | number | readonly (string | number)[];

const always = (): boolean => true;
/** The zone of a period that has begun stays. */
const never = (): boolean => false;
const isLent = ({ kind }: FormLimit): boolean => isAtOnce(kind);
const isCounted = ({ per }: FormLimit): boolean => per !== undefined && per !== 'minute' && per !== 'hour';

const shareText = (parts: number | undefined): string | undefined =>
  parts === undefined ? undefined : `${parts / (SHARE_PARTS / 100)}%`;

export const writtenInstant = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString().replace('.000Z', 'Z');

const makeGrace = ({ graceAmount, amount }: Limit): number | undefined =>
  graceAmount === undefined || amount === 'unlimited' ? undefined : graceAmount - amount;

const LIMIT_FIELDS = [
  {
    name: 'soft',
    type: 'part',
    label: 'Warn from',
    help: 'The owner is warned from this use on: a share like 80% or an amount.',
    row: 'baseSoft',
    form: always,
    written: ({ softShare, softAmount }) => shareText(softShare) ?? softAmount,
  },
  {
    name: 'thresholds',
    type: 'percents',
    label: 'Alerts at',
    help: 'Percent of the limit at which its owner is notified, like 50 80 100, or of the forecast for the end of the period: forecast 100. Empty: 50, 75, 90 and 100 of money and minutes.',
    example: [80, 100, 'forecast 100'],
    row: 'baseThresholds',
    form: (limit) => limit.each === undefined && isCounted(limit),
    written: ({ thresholds, forecastThresholds = [] }) =>
      thresholds && [...thresholds, ...forecastThresholds.map((percent) => `forecast ${percent}`)],
  },
  {
    name: 'grace',
    type: 'part',
    label: 'Grace',
    help: 'On top for pipelines that run already: a share like 10% or an amount.',
    written: (limit) => shareText(limit.graceShare) ?? makeGrace(limit),
    reach: (limit) => makeGrace(limit) ?? 0,
  },
  {
    name: 'carry',
    type: 'part',
    label: 'Carry over at most',
    help: 'Unused budget that the next period has on top: a share like 20% or an amount.',
    row: 'baseCarry',
    form: ({ kind, per }) => per !== undefined && isSpent(kind),
    written: ({ carryShare, carryMax }) => shareText(carryShare) ?? carryMax,
    reach: ({ carryMax = 0 }) => carryMax,
  },
  {
    name: 'overdraft',
    type: 'choice',
    choices: ['absorb', 'carry', 'alert'],
    label: 'Overdraft',
    help: 'Use past the limit: absorb forgets it, carry takes it from the next period, alert notifies the owner.',
    written: ({ overdraft }) => overdraft,
    reach: ({ overdraft }) => (overdraft === 'carry' ? 0 : 1),
  },
  {
    name: 'mode',
    type: 'choice',
    choices: MODES,
    label: 'Mode',
    help: 'shadow records, warn also notifies the owner, enforce rejects.',
    written: ({ mode }) => mode,
    reach: ({ mode }) => -MODES.indexOf(mode),
  },
  {
    name: 'when_unreachable',
    type: 'choice',
    choices: OUTAGE_POLICIES,
    label: 'While the ledger is unreachable',
    choiceTexts: {
      '': 'as its rule says, else by what is left for money and minutes, and all for the others',
      admit: 'every job starts',
      room: 'jobs start within the last known remaining amount',
      reject: 'no job starts',
    },
    help: 'Decision about jobs while the ledger cannot be read. room: by the last known remaining amount.',
    row: 'whenUnreachable',
    form: always,
    written: ({ whenUnreachable }) => whenUnreachable,
    // An absent field counts as the kind's default, though the rule that asks the limit may say otherwise.
    reach: ({ whenUnreachable, kind }) => -OUTAGE_POLICIES.indexOf(whenUnreachable ?? outageOfKind(kind)),
  },
  {
    name: 'wait',
    type: 'word',
    label: 'Wait for room',
    help: 'Time a job waits for a slot, CPU, memory or a start before it is rejected, like 20s.',
    example: '20s',
    row: 'wait',
    form: ({ kind }) => isAwaitable(kind),
    written: ({ waitMs }) => (waitMs === undefined ? undefined : `${waitMs / 1_000}s`),
  },
  {
    name: 'cohort',
    type: 'word',
    label: 'Cohort',
    help: 'A name. Limits of one cohort and unit use each other’s idle jobs, CPU or memory.',
    example: 'ci',
    row: 'cohort',
    form: isLent,
    written: ({ cohort }) => cohort,
  },
  {
    name: 'borrow',
    type: 'part',
    label: 'Borrow at most',
    help: 'Use above its own amount, at most: a share like 50% or an amount. Empty: none.',
    row: 'baseBorrow',
    form: isLent,
    written: ({ borrowShare, borrow }) => shareText(borrowShare) ?? borrow,
  },
  {
    name: 'lend',
    type: 'part',
    label: 'Lend at most',
    help: 'Use of its amount by others, at most: a share or an amount. Empty: all that is idle.',
    row: 'baseLend',
    form: isLent,
    written: ({ lendShare, lend }) => shareText(lendShare) ?? lend,
  },
  {
    name: 'per',
    flag: undefined,
    type: 'choice',
    choices: PERIOD_KINDS,
    label: 'Per',
    help: 'Period of the limit; absent for limits in flight.',
    column: 'period',
    written: ({ per }) => per,
    // A new counter begins, and what was spent counts no more.
    reach: 'any',
  },
  {
    name: 'zone',
    type: 'word',
    label: 'Zone',
    help: 'Time zone of its periods, like Europe/Berlin.',
    column: 'timezone',
    form: never,
    written: ({ zone }) => (zone === 'UTC' ? undefined : zone),
    reach: 'any',
  },
  {
    name: 'fiscal_start',
    flag: undefined,
    type: 'word',
    label: 'Fiscal start',
    help: 'The day the fiscal year begins, as MM-DD.',
    written: ({ fiscalStart }) => fiscalStart,
    reach: 'any',
  },
  {
    name: 'owner',
    type: 'text',
    label: 'Owner',
    help: 'Named to developers whose job is rejected.',
    row: 'owner',
    form: always,
    written: ({ owner }) => owner,
  },
  {
    name: 'contact',
    type: 'text',
    label: 'Contact of the owner',
    help: 'A mail address, a page or a channel.',
    row: 'contact',
    form: always,
    written: ({ contact }) => contact,
  },
  {
    name: 'cost_center',
    type: 'text',
    label: 'Cost centre',
    help: 'For reports of finance.',
    row: 'costCenter',
    form: always,
    written: ({ costCenter }) => costCenter,
  },
  {
    name: 'from',
    type: 'day',
    label: 'In force from',
    help: 'A day such as 31.12.2026. The limit rejects nothing before it.',
    column: 'valid_from',
    form: always,
    written: ({ fromMs }) => writtenInstant(fromMs),
    reach: ({ fromMs }) => fromMs ?? Number.NEGATIVE_INFINITY,
  },
  {
    name: 'until',
    type: 'day',
    label: 'In force until',
    help: 'The last day. The limit rejects nothing after it.',
    column: 'valid_until',
    form: always,
    written: ({ untilMs }) => writtenInstant(untilMs),
    reach: ({ untilMs }) => -(untilMs ?? Number.POSITIVE_INFINITY),
  },
  {
    name: 'reason',
    type: 'text',
    label: 'Reason',
    help: 'Stands on the limit.',
    row: 'reason',
    flag: 'note',
    written: ({ reason }) => reason,
  },
] as const satisfies readonly LimitField[];

type Row = (typeof LIMIT_FIELDS)[number];
export type LimitFieldName = Row['name'];

export const limitFields: readonly (LimitField & { readonly name: LimitFieldName })[] = LIMIT_FIELDS.map(
  (field) => ({ flag: field.name.replaceAll('_', '-'), ...field }),
);

type ValueOf<Field extends Row> = Field extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : {
      part: string | number;
      percents: readonly (number | string)[];
      word: string;
      text: string;
      day: string;
    }[Exclude<Field['type'], 'choice'>];

export type LimitFieldValues = { readonly [Field in Row as Field['name']]?: ValueOf<Field> | null };

type RowField = Extract<Row, { readonly row: string }>;
export type WrittenLimit = {
  readonly [Field in RowField as Field['row']]?: Field extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : ValueOf<Field>;
};

export const writtenLimit = (limit: Limit): WrittenLimit =>
  Object.fromEntries(
    limitFields.flatMap(({ row, written }) => {
      const value = row === undefined ? undefined : written(limit);
      return value === undefined ? [] : [[row, value]];
    }),
  );
