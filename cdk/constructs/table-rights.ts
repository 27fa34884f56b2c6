import * as names from '../../functions/names.ts';

/** Actions on items whose partition keys are like one of these; `*` stands for the rest of a key. */
interface PartitionRight {
  readonly actions: readonly string[];
  readonly partitions: readonly string[];
}

/** Rights of one kind of program. No program may change the table itself. */
export interface TableRights {
  readonly reads: readonly string[];
  readonly writes: readonly PartitionRight[];
  /** Console only: a program that reads sessions could forge one. */
  readonly sessions?: true;
  /** Recount only: a year's key can resolve pseudonyms to user ids. */
  readonly pseudonyms?: true;
}

export type LedgerUse = keyof ReturnType<typeof tableRights>;

const READ = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];
/** A transaction needs the action of each write in it, and none of its own. */
const WRITE = ['dynamodb:PutItem', 'dynamodb:UpdateItem'];
const PUT = ['dynamodb:PutItem'];

/** Every way to write an item, for what is denied. */
export const ALL_WRITES = [
  'dynamodb:BatchWriteItem',
  'dynamodb:DeleteItem',
  'dynamodb:PartiQLDelete',
  'dynamodb:PartiQLInsert',
  'dynamodb:PartiQLUpdate',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];
/** Every way to name an item. A scan names none. */
export const ALL_NAMED = [
  ...ALL_WRITES,
  'dynamodb:BatchGetItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:GetItem',
  'dynamodb:PartiQLSelect',
  'dynamodb:Query',
];

const SESSIONS = `${names.SESSIONS_PK_SUFFIX}#*`;

/** Partitions that a program may neither read nor write, because only one other program may. */
export const closedPartitions = (instance: string, { sessions, pseudonyms }: TableRights) =>
  [sessions ? [] : SESSIONS, pseudonyms ? [] : names.PSEUDONYMS_PK_SUFFIX]
    .flat()
    .map((suffix) => `${instance}${suffix}`);

const may = (actions: readonly string[], ...partitions: readonly string[]): PartitionRight => ({
  actions,
  partitions,
});

/** @param instance - begins every key, as `functions/core/store/keys.ts` builds them. */
export function tableRights(instance: string) {
  const own = (...suffixes: readonly string[]) => suffixes.map((suffix) => `${instance}${suffix}`);
  const books = own('#job#*', '#counter#*');
  const announced = `${instance}#announced#*`;
  const limits = own(names.LIMITS_PK_SUFFIX, `${names.LIMITS_PK_SUFFIX}#*`);
  const directory = own(names.DIRECTORY_PK_SUFFIX, `${names.DIRECTORY_PK_SUFFIX}#*`);
  const rules = own(names.RULES_PK_SUFFIX);
  // Readers of the rules store period openings.
  const noted = own(`${names.LIMITS_PK_SUFFIX}#opening#*`);
  const decided = [...books, announced, ...noted];
  const usage = own('#usage#*', '#top#*', '#rejections#*', '#estimates#*');
  const sessions = own(SESSIONS);
  return {
    decide: { reads: READ, writes: [may(WRITE, ...decided)] },
    settle: { reads: READ, writes: [may(WRITE, ...decided)] },
    receive: { reads: [], writes: [may(PUT, ...own('@inbox#*'))] },
    /** A job's share of the usage lies next to its record. Counters, and the snapshot that the log is folded into, are closed to it. */
    rollUp: {
      reads: READ,
      writes: [
        may(WRITE, ...own('#job#*'), ...usage, ...noted),
        may(PUT, ...own(names.COUNTER_LOG_PK_SUFFIX, `${names.THRESHOLD_ALERTS_PK_INFIX}*`)),
      ],
    },
    /** Results of admitted jobs at GitLab are for the watchdog. */
    sweep: {
      reads: READ,
      writes: [
        may(WRITE, ...decided, ...own('@sweep', '@controller', names.YET_FAILED_PK_SUFFIX), '@instances'),
      ],
    },
    keepDirectory: {
      reads: ['dynamodb:GetItem', 'dynamodb:Query'],
      writes: [may(WRITE, ...directory)],
    },
    takeLimits: { reads: READ, writes: [may(WRITE, ...limits, ...own(names.SSM_LIMITS_PK_SUFFIX))] },
    serveConsole: {
      reads: READ,
      writes: [may(WRITE, ...limits, ...sessions, announced), may(['dynamodb:DeleteItem'], ...sessions)],
      sessions: true,
    },
    notifyOwners: {
      reads: READ,
      writes: [may(PUT, ...own(names.NOTICES_PK_SUFFIX, `${names.FORECAST_ALERTS_PK_INFIX}*`))],
    },
    requeue: {
      reads: READ,
      writes: [may(WRITE, ...books, ...noted), may(PUT, ...own(names.REQUEUE_PK_SUFFIX))],
    },
    /** People who publish rules, which must fit the live limits and groups. No program may. */
    publishRules: {
      reads: [],
      writes: [may(READ, '@instances', ...rules, ...limits, ...directory), may(PUT, ...rules)],
    },
    examine: { reads: READ, writes: [may(PUT, ...own(names.HEALTH_PK_SUFFIX))] },
    /** Reads the whole table, adds lost usage, puts pseudonyms and packs sheets. It never updates or deletes a closed month. */
    recount: {
      reads: [...READ, 'dynamodb:Scan'],
      writes: [
        may(WRITE, ...books, ...usage, ...own('@recount', names.PSEUDONYMS_PK_SUFFIX)),
        may(PUT, ...own(names.STATEMENTS_PK_SUFFIX, `${names.STATEMENTS_PK_SUFFIX}#*`)),
        may(PUT, ...own(`${names.SHEETS_PK_SUFFIX}#*`, names.COUNTERS_PK_SUFFIX)),
      ],
      pseudonyms: true,
    },
  } satisfies Readonly<Record<string, TableRights>>;
}
