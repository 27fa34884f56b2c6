/** Every key of the table. The GitLab instance starts each key, so one table may serve several. */
import { createHash } from 'node:crypto';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import * as names from '../../names.ts';
import { LedgerError } from './table-failure.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** The due index is spread, so that one busy instance does not write one partition of it. */
export const DUE_SHARDS = 16;

export { CLOSING_SK, COUNTER_SK, ENTRY_SK_PREFIX, INBOX_SK, RECORD_SK } from '../../names.ts';
/** A partition of the inbox takes a thousand deliveries a second. */
export const INBOX_SHARDS = 8;
/** Deliveries are kept by the half hour, so that the sweep can read the ends that webhooks reported in it. */
export const INBOX_SLOT_MS = 30 * 60_000;
export const inboxSlot = (receivedAtMs: number): number => Math.floor(receivedAtMs / INBOX_SLOT_MS);
export const INSTANCES_PK = '@instances';
export const ANNOUNCED_SK = 'announced';
export const ROLLUP_SK = 'rollup';
export const IMPORTED_PARAMETER_SK_PREFIX = 'parameter/';
const ENTRY_DIGITS = 6;
const PART_DIGITS = 3;
const BLOCK_DIGITS = 4;
const NUMBER_DIGITS = 10;
/** Times count down from here in keys whose newest is to sort first: the year 2286. */
const LAST_MS = 9_999_999_999_999;
const LAST_MS_DIGITS = 13;
const STATEMENTS_A_BLOCK = 1000;

const digits = (number: number, width: number): string => String(number).padStart(width, '0');

export type LedgerKeys = ReturnType<typeof ledgerKeys>;

/** Items of the ledger start with `<instance>#`, and a scan of it yields only these; all others start with `<instance>@`. */
export function ledgerKeys(instance: string) {
  if (instance === '' || instance.includes('#')) {
    throw new LedgerError('ledger_misuse', `GitLab instance "${instance}": expected a host name without "#"`);
  }
  const at = (suffix: string, sk: string): Key => ({ pk: `${instance}${suffix}`, sk });
  const part = (suffix: string, number: number): Key => at(suffix, digits(number, PART_DIGITS));
  const jobPrefix = `${instance}#job#`;
  const counterPrefix = `${instance}#counter#`;
  const inboxPrefix = `${instance}@inbox#`;
  const inboxPk = (slot: number, shard: number): string => `${inboxPrefix}${slot}#${shard}`;
  const dueShardPk = (shard: number): string => `${instance}#live#${shard}`;
  const closingShardPk = (shard: number): string => `${instance}#close#${shard}`;
  return {
    prefix: `${instance}#`,

    record: (jobId: number): Key => at(`#job#${jobId}`, names.RECORD_SK),
    entry: (jobId: number, number: number): Key =>
      at(`#job#${jobId}`, `${names.ENTRY_SK_PREFIX}${digits(number, ENTRY_DIGITS)}`),
    counter: (key: CounterKey): Key => at(`#counter#${counterPath(key)}`, names.COUNTER_SK),
    closing: (key: CounterKey): Key => at(`#counter#${counterPath(key)}`, names.CLOSING_SK),
    jobIdOf: (pk: string): number => Number(pk.slice(jobPrefix.length)),
    counterOf: (pk: string): CounterKey => parseCounterPath(pk.slice(counterPrefix.length)),
    /** Notices have any text, so the key has its hash. */
    announcement: (text: string): Key => at(`#announced#${digest(text)}`, ANNOUNCED_SK),

    // Partitions of the due index: live jobs, and periods in the order in which they are to be closed.
    // Job ids are handed out one by one, so the remainder alone spreads them evenly.
    duePk: (jobId: number): string => dueShardPk(jobId % DUE_SHARDS),
    dueShardPk,
    closingPk: (key: CounterKey): string => closingShardPk(shardOf(counterName(key))),
    closingShardPk,

    inboxPk,
    inbox: (id: string, receivedAtMs: number): Key => {
      const name = digest(id);
      const shard = name.charCodeAt(0) % INBOX_SHARDS;
      return { pk: inboxPk(inboxSlot(receivedAtMs), shard), sk: `${names.INBOX_SK}#${name}` };
    },
    isInboxPk: (pk: string): boolean => pk.startsWith(inboxPrefix),
    isJournalPk: (pk: string): boolean => pk.startsWith(`${instance}${names.JOURNAL_PK_PREFIX}`),

    sweepMarks: at('@sweep', 'marks'),
    sweepMarksBlock: (block: number): Key => at('@sweep', `marks#${digits(block, BLOCK_DIGITS)}`),
    confirmCheckpoint: at('@sweep', 'confirmed'),
    controllerScope: at('@controller', 'scope'),
    recountOutcome: at('@recount', 'outcome'),
    recountRound: at('@recount', 'round'),
    recountPart: (rev: number, number: number): Key =>
      at('@recount', `round#${digits(rev, NUMBER_DIGITS)}#${digits(number, BLOCK_DIGITS)}`),
    canaryOutcome: at('@canary', 'outcome'),
    healthLook: at(names.HEALTH_PK_SUFFIX, 'look'),
    heartbeatPk: `${instance}${names.HEARTBEAT_PK_SUFFIX}`,
    watchdogMark: at(names.WATCHDOG_PK_SUFFIX, 'mark'),
    yetFailed: at(names.YET_FAILED_PK_SUFFIX, 'latest'),
    noticesCursor: at(names.NOTICES_PK_SUFFIX, 'cursor'),
    alertRecords: (of: 'thresholds' | 'forecasts', key: CounterKey): Key =>
      at(
        `${of === 'thresholds' ? names.THRESHOLD_ALERTS_PK_INFIX : names.FORECAST_ALERTS_PK_INFIX}${counterPath(key)}`,
        'told',
      ),
    importedParameter: (group: number): Key =>
      at(names.SSM_LIMITS_PK_SUFFIX, `${IMPORTED_PARAMETER_SK_PREFIX}${group}`),
    requeueList: (group: number): Key => at(names.REQUEUE_PK_SUFFIX, `group/${group}`),

    counterSnapshot: at(names.COUNTERS_PK_SUFFIX, 'head'),
    counterSnapshotPart: (turn: number, number: number): Key =>
      at(names.COUNTERS_PK_SUFFIX, `part#${turn}#${digits(number, BLOCK_DIGITS)}`),
    counterLog: (atMs: number, batch: string): Key =>
      at(names.COUNTER_LOG_PK_SUFFIX, `${digits(LAST_MS - atMs, LAST_MS_DIGITS)}#${batch}`),

    statementRegister: at(names.STATEMENTS_PK_SUFFIX, 'register'),
    statementNumber: (number: number): Key =>
      at(
        `${names.STATEMENTS_PK_SUFFIX}#number#${Math.floor(number / STATEMENTS_A_BLOCK)}`,
        digits(number, NUMBER_DIGITS),
      ),
    closedStatement: (subject: string, month: string): Key =>
      at(`${names.STATEMENTS_PK_SUFFIX}#of#${escapePart(subject)}`, month),
    priceChange: (number: number): Key =>
      at(`${names.STATEMENTS_PK_SUFFIX}#prices`, digits(number, NUMBER_DIGITS)),
    priceEdition: (sha256: string, number: number): Key =>
      part(`${names.STATEMENTS_PK_SUFFIX}#prices#${sha256}`, number),
    sheet: (kind: string, span: string, number: number): Key =>
      part(`${names.SHEETS_PK_SUFFIX}#${kind}#${span}`, number),

    rulesPointer: at(names.RULES_PK_SUFFIX, 'current'),
    rulesVersion: (hash: string): Key => at(names.RULES_PK_SUFFIX, `version#${hash}`),
    limitPointer: at(names.LIMITS_PK_SUFFIX, 'pointer'),
    limitChunk: (set: string, chunk: string, number: number): Key =>
      at(`${names.LIMITS_PK_SUFFIX}#${set}`, `${chunk}#${digits(number, PART_DIGITS)}`),
    limitOpening: (key: CounterKey): Key =>
      at(`${names.LIMITS_PK_SUFFIX}#opening#${counterPath(key)}`, 'opening'),
    limitLog: (edit: number): Key => at(`${names.LIMITS_PK_SUFFIX}#log`, digits(edit, NUMBER_DIGITS)),
    limitRequest: (id: string): Key => at(`${names.LIMITS_PK_SUFFIX}#requests`, id),

    directoryPointer: at(names.DIRECTORY_PK_SUFFIX, 'pointer'),
    directoryChunk: (version: string, chunk: string, number: number): Key =>
      at(`${names.DIRECTORY_PK_SUFFIX}#${version}`, `${chunk}#${digits(number, PART_DIGITS)}`),

    pseudonymKey: (year: number): Key => at(names.PSEUDONYMS_PK_SUFFIX, String(year)),
    session: (idHash: string): Key => at(`${names.SESSIONS_PK_SUFFIX}#${idHash}`, 'session'),
    sessionOfUser: (userId: number, idHash: string): Key =>
      at(`${names.SESSIONS_PK_SUFFIX}#of#${userId}`, idHash),
  };
}

/** The names of one group's counters end alike, so every character counts. */
function shardOf(name: string): number {
  let sum = 0;
  for (let index = 0; index < name.length; index += 1) sum = (sum * 31 + name.charCodeAt(index)) >>> 0;
  return sum % DUE_SHARDS;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Names come from people (runner classes, limits); the separators inside them are escaped, everything else is kept. */
export const escapePart = (part: string): string =>
  UNSAFE.test(part) ? part.replace(UNSAFE_ALL, encodeURIComponent) : part;

export const unescapePart = (part: string): string =>
  part.includes('%') ? part.replace(ESCAPED_ALL, decodeURIComponent) : part;

const UNSAFE = /[%|#\n]/;
const UNSAFE_ALL = /[%|#\n]/g;
const ESCAPED_ALL = /%(?:25|7C|23|0A)/g;

const counterPath = (key: CounterKey): string => {
  const name = counterName(key);
  // Two separators and nothing to escape is by far the usual case.
  return name.split('|').length === 3 && !name.includes('%') && !name.includes('#') && !name.includes('\n')
    ? name
    : `${escapePart(key.subject)}|${escapePart(key.limit)}|${escapePart(key.period)}`;
};

function parseCounterPath(path: string): CounterKey {
  const [subject = '', limit = '', period = ''] = path.split('|');
  return { subject: unescapePart(subject), limit: unescapePart(limit), period: unescapePart(period) };
}
