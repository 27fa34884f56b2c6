/**
 * Builds and reads every key of the table. The GitLab instance starts each key, so one table may serve
 * several.
 */
import { createHash } from 'node:crypto';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import {
  CLOSING_SK,
  COUNTER_LOG_PK_SUFFIX,
  COUNTER_SK,
  COUNTERS_PK_SUFFIX,
  DIRECTORY_PK_SUFFIX,
  ENTRY_SK_PREFIX,
  FORECAST_ALERTS_PK_INFIX,
  HEALTH_PK_SUFFIX,
  HEARTBEAT_PK_SUFFIX,
  INBOX_SK,
  JOURNAL_PK_PREFIX,
  LIMITS_PK_SUFFIX,
  NOTICES_PK_SUFFIX,
  PSEUDONYMS_PK_SUFFIX,
  RECORD_SK,
  REQUEUE_PK_SUFFIX,
  SESSIONS_PK_SUFFIX,
  SHEETS_PK_SUFFIX,
  SSM_LIMITS_PK_SUFFIX,
  STATEMENTS_PK_SUFFIX,
  THRESHOLD_ALERTS_PK_INFIX,
  WATCHDOG_PK_SUFFIX,
  YET_FAILED_PK_SUFFIX,
} from '../../names.ts';
import { LedgerError } from './table-failure.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** The due index is spread, so that one busy instance does not write one partition of it. */
export const DUE_SHARDS = 16;

export { CLOSING_SK, COUNTER_SK, ENTRY_SK_PREFIX, INBOX_SK, RECORD_SK };
/** A partition of the inbox takes a thousand deliveries a second. */
export const INBOX_SHARDS = 8;
/** Deliveries are kept by the half hour, so that the sweep can read the ends that webhooks reported in it. */
export const INBOX_SLOT_MS = 30 * 60_000;
export const inboxSlot = (receivedAtMs: number): number => Math.floor(receivedAtMs / INBOX_SLOT_MS);
/** Begins the keys of no instance: one item per instance that the table has books of. */
export const INSTANCES_PK = '@instances';
export const ANNOUNCED_SK = 'announced';
/** Everything functions/rollup and functions/estimates keep in the table. */
export const ROLLUP_SK = 'rollup';
export const IMPORTED_PARAMETER_SK_PREFIX = 'parameter/';
const ENTRY_DIGITS = 6;
const LIMIT_PART_DIGITS = 3;
const LIMIT_EDIT_DIGITS = 10;
const MARKS_BLOCK_DIGITS = 4;
/** Times count down from here in keys whose newest is to sort first: the year 2286. */
const LAST_MS = 9_999_999_999_999;
const LAST_MS_DIGITS = 13;
const STATEMENTS_A_BLOCK = 1000;

export interface LedgerKeys {
  /** Begins every pk of this instance: `gitlab.example.com#`. */
  readonly prefix: string;
  /** `gitlab.example.com#job#4711`, `entry#000001`: next to the record. */
  record(jobId: number): Key;
  /** `gitlab.example.com#job#4711`, `entry#000001`: next to the record. */
  entry(jobId: number, number: number): Key;
  /** `gitlab.example.com#counter#group/101|money-month|2026-11`, `counter` */
  counter(key: CounterKey): Key;
  /** `gitlab.example.com#counter#group/101|money-month|2026-10`, `closing`: next to its counter. */
  closing(key: CounterKey): Key;
  /** `gitlab.example.com#announced#<SHA-256 of the text>`, `announced`: what is announced may be called anything. */
  announcement(text: string): Key;
  /** `gitlab.example.com@inbox#991824#3`: what arrived in one half hour; see {@link inboxSlot}. No part of the books. */
  inboxPk(slot: number, shard: number): string;
  /** The same partition, `inbox#<SHA-256 of the delivery's id>`: one delivery. */
  inbox(id: string, receivedAtMs: number): Key;
  isInboxPk(pk: string): boolean;
  /** `gitlab.example.com#journal#<id>`, `inbox`: fallback answers that a relay wrote down. */
  isJournalPk(pk: string): boolean;
  /** `gitlab.example.com@sweep`, `marks`: no part of the books, so it lies outside the prefix and no scan yields it. */
  readonly sweepMarks: Key;
  /** `gitlab.example.com@sweep`, `marks#0007`: checkpoints of a block of runners. */
  sweepMarksBlock(block: number): Key;
  /** `gitlab.example.com@sweep`, `confirmed`: up to which delivery the sweep has compared ends with GitLab. */
  readonly confirmCheckpoint: Key;
  /** `gitlab.example.com@controller`, `scope`: whose jobs GitLab asks about. No part of the books, either. */
  readonly controllerScope: Key;
  /** `gitlab.example.com@recount`, `outcome`: result of the last recount. */
  readonly recountOutcome: Key;
  /** `gitlab.example.com@recount`, `round`: the progress of the round under way. */
  readonly recountRound: Key;
  /** `gitlab.example.com@recount`, `round#0000000012#0003`: a part of its sums, by number. */
  recountPart(rev: number, part: number): Key;
  /** `gitlab.example.com@counters`, `head`: the snapshot of all counters. Outside the prefix of the ledger, so no scan yields it. */
  readonly counterSnapshot: Key;
  /** `gitlab.example.com@counters`, `part#1#0003`: a part of it. */
  counterSnapshotPart(turn: number, part: number): Key;
  /** `gitlab.example.com@counters#log`, `8204737599999#<batch>`: counters that a batch changed. The newest sorts first. */
  counterLog(atMs: number, batch: string): Key;
  /** `gitlab.example.com@canary`, `outcome`: result of the last canary. */
  readonly canaryOutcome: Key;
  /** `gitlab.example.com@statements`, `register`: the last number of a closed statement. No part of the books, either. */
  readonly statementRegister: Key;
  /** `gitlab.example.com@statements#number#0`, `0000000017`: which statement has a number, a thousand to a partition. */
  statementNumber(number: number): Key;
  /** `gitlab.example.com@statements#of#group/101`, `2026-10`: a closed month of a group. */
  closedStatement(subject: string, month: string): Key;
  /** `gitlab.example.com@statements#prices`, `0000000003`: since when deployed prices counted. */
  priceChange(number: number): Key;
  /** `gitlab.example.com@statements#prices#<SHA-256 of their text>`, `000`: prices that were ever deployed, by part. */
  priceEdition(sha256: string, part: number): Key;
  /** `gitlab.example.com@sheets#group#2026-11`, `000`: the usage of all groups in a month, by part. No part of the books, either. */
  sheet(kind: string, span: string, part: number): Key;
  /** `gitlab.example.com@health`, `look`: what the hourly look found. No part of the books, either. */
  readonly healthLook: Key;
  /** `gitlab.example.com@limits`, `pointer`: which set of limits is live. Limits are no part of the books, either. */
  readonly limitPointer: Key;
  /** `gitlab.example.com@limits#<set>`, `root/100#000`: a chunk of the set. */
  limitChunk(set: string, chunk: string, part: number): Key;
  /** `gitlab.example.com@limits#opening#group/101|money-month|2026-12`, `opening`: what a period began with. `first` in place of the period: what the first one did. */
  limitOpening(key: CounterKey): Key;
  /** `gitlab.example.com@limits#log`, `0000000017`: the change log, one item per edit. */
  limitLog(edit: number): Key;
  /** `gitlab.example.com@limits#requests`, `r-…`: a request for more. */
  limitRequest(id: string): Key;
  /** `gitlab.example.com@directory`, `pointer`: which version of the directory is live. No part of the books, either. */
  readonly directoryPointer: Key;
  /** `gitlab.example.com@directory#<version>`, `groups/7#000`: a chunk of the version. */
  directoryChunk(version: string, chunk: string, part: number): Key;
  /** `gitlab.example.com@directory#wishes`, `group/123`: an id that a reader did not find. */
  directoryWish(wish: string): Key;
  /** `gitlab.example.com@pseudonyms`, `2026`: the key of a year's pseudonyms. No part of the books, either. */
  pseudonymKey(year: number): Key;
  /** `gitlab.example.com@sessions#<hash of the session's id>`, `session`: who is signed in. No part of the books, either. */
  session(idHash: string): Key;
  /** `gitlab.example.com@sessions#of#7`, `<hash>`: that a user has the session of this hash. */
  sessionOfUser(userId: number, idHash: string): Key;
  /** Begins the pk of every session. */
  readonly sessionPrefix: string;
  /** `gitlab.example.com@heartbeat`: each relay's last sign of life, under its id. */
  readonly heartbeatPk: string;
  /** `gitlab.example.com@watchdog`, `mark` */
  readonly watchdogMark: Key;
  /** `gitlab.example.com@yet-failed`, `latest` */
  readonly yetFailed: Key;
  /** `gitlab.example.com@notices`, `cursor` */
  readonly noticesCursor: Key;
  /** `gitlab.example.com@alerts#crossings#group/101|money-month|2026-11`, `told`: the alerts of a counter's levels. */
  alertRecords(of: 'thresholds' | 'forecasts', key: CounterKey): Key;
  /** `gitlab.example.com@ssm-limits`, `parameter/101`: the version of a group's parameter that was imported. */
  importedParameter(group: number): Key;
  /** `gitlab.example.com@requeue`, `group/101`: rejected jobs of a group to retry, and their results. */
  requeueList(group: number): Key;
  /** Partition of the due index, `gitlab.example.com#live#7`. */
  duePk(jobId: number): string;
  dueShardPk(shard: number): string;
  /** Partition of the same index, `gitlab.example.com#close#7`: periods in the order in which they are to be closed. */
  closingPk(key: CounterKey): string;
  closingShardPk(shard: number): string;
  jobIdOf(pk: string): number;
  counterOf(pk: string): CounterKey;
}

/** @param instance - the GitLab host, e.g. `gitlab.example.com`. */
export function ledgerKeys(instance: string): LedgerKeys {
  if (instance === '' || instance.includes('#')) {
    throw new LedgerError('ledger_misuse', `GitLab instance "${instance}": expected a host name without "#"`);
  }
  const jobPrefix = `${instance}#job#`;
  const counterPrefix = `${instance}#counter#`;
  const inboxPrefix = `${instance}@inbox#`;
  const inboxPk = (slot: number, shard: number): string => `${inboxPrefix}${slot}#${shard}`;
  const dueShardPk = (shard: number): string => `${instance}#live#${shard}`;
  const closingShardPk = (shard: number): string => `${instance}#close#${shard}`;
  return {
    prefix: `${instance}#`,
    record: (jobId) => ({ pk: `${jobPrefix}${jobId}`, sk: RECORD_SK }),
    entry: (jobId, number) => ({
      pk: `${jobPrefix}${jobId}`,
      sk: `${ENTRY_SK_PREFIX}${String(number).padStart(ENTRY_DIGITS, '0')}`,
    }),
    counter: (key) => ({ pk: `${counterPrefix}${counterPath(key)}`, sk: COUNTER_SK }),
    closing: (key) => ({ pk: `${counterPrefix}${counterPath(key)}`, sk: CLOSING_SK }),
    announcement: (text) => ({ pk: `${instance}#announced#${digest(text)}`, sk: ANNOUNCED_SK }),
    inboxPk,
    inbox: (id, receivedAtMs) => {
      const name = digest(id);
      const shard = name.charCodeAt(0) % INBOX_SHARDS;
      return { pk: inboxPk(inboxSlot(receivedAtMs), shard), sk: `${INBOX_SK}#${name}` };
    },
    isInboxPk: (pk) => pk.startsWith(inboxPrefix),
    isJournalPk: (pk) => pk.startsWith(`${instance}${JOURNAL_PK_PREFIX}`),
    sweepMarks: { pk: `${instance}@sweep`, sk: 'marks' },
    confirmCheckpoint: { pk: `${instance}@sweep`, sk: 'confirmed' },
    sweepMarksBlock: (block) => ({
      pk: `${instance}@sweep`,
      sk: `marks#${String(block).padStart(MARKS_BLOCK_DIGITS, '0')}`,
    }),
    controllerScope: { pk: `${instance}@controller`, sk: 'scope' },
    recountOutcome: { pk: `${instance}@recount`, sk: 'outcome' },
    recountRound: { pk: `${instance}@recount`, sk: 'round' },
    recountPart: (rev, part) => ({
      pk: `${instance}@recount`,
      sk: `round#${String(rev).padStart(LIMIT_EDIT_DIGITS, '0')}#${String(part).padStart(MARKS_BLOCK_DIGITS, '0')}`,
    }),
    counterSnapshot: { pk: `${instance}${COUNTERS_PK_SUFFIX}`, sk: 'head' },
    counterSnapshotPart: (turn, part) => ({
      pk: `${instance}${COUNTERS_PK_SUFFIX}`,
      sk: `part#${turn}#${String(part).padStart(MARKS_BLOCK_DIGITS, '0')}`,
    }),
    counterLog: (atMs, batch) => ({
      pk: `${instance}${COUNTER_LOG_PK_SUFFIX}`,
      sk: `${String(LAST_MS - atMs).padStart(LAST_MS_DIGITS, '0')}#${batch}`,
    }),
    canaryOutcome: { pk: `${instance}@canary`, sk: 'outcome' },
    statementRegister: { pk: `${instance}${STATEMENTS_PK_SUFFIX}`, sk: 'register' },
    statementNumber: (number) => ({
      pk: `${instance}${STATEMENTS_PK_SUFFIX}#number#${Math.floor(number / STATEMENTS_A_BLOCK)}`,
      sk: String(number).padStart(LIMIT_EDIT_DIGITS, '0'),
    }),
    closedStatement: (subject, month) => ({
      pk: `${instance}${STATEMENTS_PK_SUFFIX}#of#${escapePart(subject)}`,
      sk: month,
    }),
    priceChange: (number) => ({
      pk: `${instance}${STATEMENTS_PK_SUFFIX}#prices`,
      sk: String(number).padStart(LIMIT_EDIT_DIGITS, '0'),
    }),
    priceEdition: (sha256, part) => ({
      pk: `${instance}${STATEMENTS_PK_SUFFIX}#prices#${sha256}`,
      sk: String(part).padStart(LIMIT_PART_DIGITS, '0'),
    }),
    sheet: (kind, span, part) => ({
      pk: `${instance}${SHEETS_PK_SUFFIX}#${kind}#${span}`,
      sk: String(part).padStart(LIMIT_PART_DIGITS, '0'),
    }),
    healthLook: { pk: `${instance}${HEALTH_PK_SUFFIX}`, sk: 'look' },
    limitPointer: { pk: `${instance}${LIMITS_PK_SUFFIX}`, sk: 'pointer' },
    limitChunk: (set, chunk, part) => ({
      pk: `${instance}${LIMITS_PK_SUFFIX}#${set}`,
      sk: `${chunk}#${String(part).padStart(LIMIT_PART_DIGITS, '0')}`,
    }),
    limitOpening: (key) => ({
      pk: `${instance}${LIMITS_PK_SUFFIX}#opening#${counterPath(key)}`,
      sk: 'opening',
    }),
    limitLog: (edit) => ({
      pk: `${instance}${LIMITS_PK_SUFFIX}#log`,
      sk: String(edit).padStart(LIMIT_EDIT_DIGITS, '0'),
    }),
    limitRequest: (id) => ({ pk: `${instance}${LIMITS_PK_SUFFIX}#requests`, sk: id }),
    directoryPointer: { pk: `${instance}${DIRECTORY_PK_SUFFIX}`, sk: 'pointer' },
    directoryChunk: (version, chunk, part) => ({
      pk: `${instance}${DIRECTORY_PK_SUFFIX}#${version}`,
      sk: `${chunk}#${String(part).padStart(LIMIT_PART_DIGITS, '0')}`,
    }),
    directoryWish: (wish) => ({ pk: `${instance}${DIRECTORY_PK_SUFFIX}#wishes`, sk: wish }),
    pseudonymKey: (year) => ({ pk: `${instance}${PSEUDONYMS_PK_SUFFIX}`, sk: String(year) }),
    session: (idHash) => ({ pk: `${instance}${SESSIONS_PK_SUFFIX}#${idHash}`, sk: 'session' }),
    sessionOfUser: (userId, idHash) => ({ pk: `${instance}${SESSIONS_PK_SUFFIX}#of#${userId}`, sk: idHash }),
    sessionPrefix: `${instance}${SESSIONS_PK_SUFFIX}#`,
    heartbeatPk: `${instance}${HEARTBEAT_PK_SUFFIX}`,
    watchdogMark: { pk: `${instance}${WATCHDOG_PK_SUFFIX}`, sk: 'mark' },
    yetFailed: { pk: `${instance}${YET_FAILED_PK_SUFFIX}`, sk: 'latest' },
    noticesCursor: { pk: `${instance}${NOTICES_PK_SUFFIX}`, sk: 'cursor' },
    alertRecords: (of, key) => ({
      pk: `${instance}${of === 'thresholds' ? THRESHOLD_ALERTS_PK_INFIX : FORECAST_ALERTS_PK_INFIX}${counterPath(key)}`,
      sk: 'told',
    }),
    importedParameter: (group) => ({
      pk: `${instance}${SSM_LIMITS_PK_SUFFIX}`,
      sk: `${IMPORTED_PARAMETER_SK_PREFIX}${group}`,
    }),
    requeueList: (group) => ({ pk: `${instance}${REQUEUE_PK_SUFFIX}`, sk: `group/${group}` }),
    // Job ids are handed out one by one, so the remainder alone spreads them evenly.
    duePk: (jobId) => dueShardPk(jobId % DUE_SHARDS),
    dueShardPk,
    closingPk: (key) => closingShardPk(shardOf(counterName(key))),
    closingShardPk,
    jobIdOf: (pk) => Number(pk.slice(jobPrefix.length)),
    counterOf: (pk) => parseCounterPath(pk.slice(counterPrefix.length)),
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
