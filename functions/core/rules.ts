/** The rules in force: the published ones or the bundle's, with the live limits. One per process. */

import { readFileSync } from 'node:fs';
import type { Directory } from '../../policies/directory.ts';
import { parseDirectory } from '../../policies/document/parse-directory.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import {
  type DocumentProblem,
  isRecord,
  type ParseResult,
  problemText,
} from '../../policies/document/reading.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { knowZones } from '../../policies/limits/calendar.ts';
import { type LimitSet, subjectKey } from '../../policies/limits/limits.ts';
import { placementOf } from '../../policies/placement.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { FUNCTION_METRIC } from '../names.ts';
import type { Rules } from './admission/judge.ts';
import { directoryStore } from './directory/directory-store.ts';
import { DynamoDirectoryTable } from './directory/directory-table.ts';
import { directoryHandOut } from './directory/hand-out.ts';
import type { LedgerClock, Log } from './environment/environment.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { LiveLimits } from './limits/edit-outcomes.ts';
import { LimitStore } from './limits/limit-store.ts';
import { DynamoLimitTable, type DynamoLimitTableOptions, type LimitTable } from './limits/limit-table.ts';
import type { Metrics } from './metrics.ts';
import { dynamoPublishedRules, hashRules, type RulesFile } from './published-rules.ts';
import type { InstanceTable } from './store/operation.ts';
import { failureText } from './store/table-failure.ts';

interface RulesInForceDeps {
  readonly table: LimitTable;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: LedgerClock;
  readonly log: Log;
  /** Reads the jobs' groups from the stored directory; never throws. Absent: only the packed directory. */
  readonly directoryFor?: DirectoryFor;
  readonly onUnreadable?: (() => void) | undefined;
}

type DirectoryFor = (jobs: readonly Omit<PlacedJob, 'jobId'>[]) => Promise<Directory | undefined>;

export type RulesInForce = ReturnType<typeof rulesInForce>;

type PlacedJob = Pick<
  AdmissionRequest,
  'jobId' | 'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId' | 'suspicious'
>;

export function rulesInForce(
  packed: Rules,
  { table, ledger, clock, log, directoryFor = async () => packed.directory, onUnreadable }: RulesInForceDeps,
) {
  const store = new LimitStore({
    table,
    policy: packed.policy,
    packed: packed.limits,
    clock,
    previous: (keys) => ledger.readCounters(keys),
    log,
    onUnreadable,
  });
  return {
    /** The live limits of these subjects, perhaps others', too. @throws {LimitsError} */
    limitsFor: (subjects: Iterable<string>): Promise<LimitSet> => store.limitsFor(subjects),
    directoryFor,
    /** @throws {LimitsError} */
    rulesFor: async (jobs: readonly PlacedJob[]): Promise<Rules> => {
      const directory = await directoryFor(jobs);
      const limits = await store.limitsFor(listSubjects(jobs, directory));
      const limitsAreCurrent = async (timeoutMs: number): Promise<boolean> => {
        const isStale = store.recheck(limits.version);
        return !(await Promise.race([isStale, clock.sleep(timeoutMs).then(() => false)]));
      };
      return { ...packed, directory, limits, limitsAreCurrent };
    },
  };
}

/** Root, groups in between, own group and project of each job, as far as they are known. */
function* listSubjects(jobs: readonly PlacedJob[], directory: Directory | undefined): Generator<string> {
  for (const job of jobs) {
    const { ancestors, groupId, projectId } = placementOf(job, directory);
    for (const { id } of ancestors) yield subjectKey({ kind: 'group', id });
    if (groupId !== undefined) yield subjectKey({ kind: 'group', id: groupId });
    if (projectId !== undefined) yield subjectKey({ kind: 'project', id: projectId });
  }
}

const readPacked = (file: string): RulesFile => JSON.parse(readFileSync(file, 'utf8'));

/** Once per cold start. @throws {Error} naming the file and every problem: the function refuses to start rather than to guess */
export function readRulesFile(file: string, packed = readPacked(file)): Rules {
  if (packed.zones !== undefined) knowZones(packed.zones);
  const { document, version } = packed.policy;
  const policy = compiled(parsePolicy(document, version, { wasAccepted: true }), file, 'policy');
  const limits = compiled(parseLimits(packed.limits.document, packed.limits.version, policy), file, 'limits');
  const directory =
    packed.directory === undefined
      ? undefined
      : compiled(parseDirectory(packed.directory), file, 'directory');
  return { policy, limits, directory, estimator: timeoutEstimator };
}

function compiled<T>(parsed: ParseResult<T, DocumentProblem>, file: string, part: string): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`[config_invalid] ${file}, ${part}: ${parsed.problems.map(problemText).join('; ')}`);
}

export type LimitsInForce = Pick<LiveLimits, 'document' | 'limits'>;

export type WrittenRules = ReturnType<typeof readWritten>;

/** With the documents. Limits as written are in force until a first set is live. @throws {Error} like {@link readRulesFile} */
function readWritten(source: string, file: RulesFile) {
  const rules = readRulesFile(source, file);
  const document = isRecord(file.limits.document) ? file.limits.document : {};
  return { ...rules, file, written: { document, limits: rules.limits } satisfies LimitsInForce };
}

export function pricesIn({ policy }: Pick<RulesFile, 'policy'>) {
  const { currency, prices } = isRecord(policy.document) ? policy.document : {};
  return { policyVersion: policy.version, text: JSON.stringify({ currency, prices }) };
}

interface FollowDeps {
  readonly rulesFile: string;
  readonly table: InstanceTable & { readonly clock: LedgerClock; readonly metrics: Metrics };
  readonly log: Log;
}

/** A publication is in force everywhere within this time. */
const POINTER_AGE_MS_MAX = 5_000;
/** An admission has two seconds in all, and takes the rules in use rather than wait. */
const TIMEOUT_MS = 700;

/**
 * Keeps what `build` makes of the rules in force, and builds it again when others are published. What cannot be loaded or built
 * replaces nothing. Before the first success the bundle's rules count.
 *
 * @throws {Error} like {@link readRulesFile} if the bundle's rules are invalid
 */
export function followRules<Built>(
  { rulesFile, table, log }: FollowDeps,
  build: (rules: WrittenRules, before: Built | undefined) => Built | Promise<Built>,
) {
  const { clock, metrics } = table;
  const published = dynamoPublishedRules(table, TIMEOUT_MS);
  const bundled = readWritten(rulesFile, readPacked(rulesFile));
  const bundledHash = hashRules(bundled.file);
  let inUse: { readonly hash: string; readonly built: Built } | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let behindSinceMs: number | undefined;

  async function check(): Promise<void> {
    try {
      const hash = (await published.pointer())?.hash ?? bundledHash;
      if (hash !== inUse?.hash) {
        const rules = hash === bundledHash ? bundled : readWritten(hash, await published.read(hash));
        inUse = { hash, built: await build(rules, inUse?.built) };
      }
      behindSinceMs = undefined;
    } catch (error) {
      if (behindSinceMs === undefined) log.error('rules not loaded', { cause: failureText(error) });
      behindSinceMs ??= checkedAtMs;
      const behindMs = clock.monotonicMs() - behindSinceMs;
      metrics.add(FUNCTION_METRIC.rulesBehindSeconds, Math.ceil(behindMs / 1_000));
      metrics.flush();
      inUse ??= { hash: bundledHash, built: await build(bundled, undefined) };
    }
  }
  let checked = Promise.resolve();

  return {
    isBehind: () => behindSinceMs !== undefined,
    /** At most five seconds old. */
    async current(): Promise<Built> {
      const nowMs = clock.monotonicMs();
      if (nowMs - checkedAtMs >= POINTER_AGE_MS_MAX) {
        checkedAtMs = nowMs;
        checked = check();
      }
      await checked;
      return (inUse as { built: Built }).built;
    },
  };
}

/** The rules in force, with limits and the directory from the ledger's table. @throws like {@link readRulesFile} */
export function deployedRules({
  ledger,
  onUnreadable,
  ...deps
}: Pick<RulesInForceDeps, 'ledger' | 'onUnreadable'> &
  FollowDeps & { readonly table: DynamoLimitTableOptions }) {
  const { log, table } = deps;
  const { clock } = table;
  const directoryTable = new DynamoDirectoryTable(table);
  const rules = followRules<RulesInForce & { readonly rules: WrittenRules }>(
    deps,
    async (written, before) => {
      const directoryFor = directoryStore({ table: directoryTable, packed: written.directory, clock, log });
      const inForce = rulesInForce(written, {
        ...{ table: new DynamoLimitTable(table), ledger, clock, log, onUnreadable },
        directoryFor,
      });
      // Starts both reads early, for the first request; a failure is repeated by that request.
      const early = Promise.all([inForce.directoryFor([]), inForce.limitsFor([])]);
      if (before === undefined) early.catch(() => {});
      // Rules that the live limits do not fit replace no others.
      else await early;
      return { ...inForce, rules: written };
    },
  );
  void rules.current().catch(() => {});
  return {
    current: async () => (await rules.current()).rules,
    limitsFor: async (subjects: Iterable<string>) => (await rules.current()).limitsFor(subjects),
    directoryFor: async (jobs: Parameters<DirectoryFor>[0]) => (await rules.current()).directoryFor(jobs),
    rulesFor: async (jobs: readonly PlacedJob[]) => (await rules.current()).rulesFor(jobs),
    handOutDirectory: directoryHandOut({ table: directoryTable, clock }),
    /** Undefined while other rules are or may be current: those of the relay may be newer. */
    handOutPolicy: async () => {
      const { file } = (await rules.current()).rules;
      return rules.isBehind() ? undefined : file.policy;
    },
  };
}
