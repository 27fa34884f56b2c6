/** The rules in force: packed with the code, with published limits. One per process. */

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
import { knowZones, type ZoneTable } from '../../policies/limits/calendar.ts';
import { type LimitSet, subjectKey } from '../../policies/limits/limits.ts';
import { placementOf } from '../../policies/placement.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { HandOutDirectory, Rules } from './admission/judge.ts';
import { DirectoryStore } from './directory/directory-store.ts';
import { DynamoDirectoryTable } from './directory/directory-table.ts';
import { directoryHandOut } from './directory/hand-out.ts';
import type { LedgerClock, Log } from './environment/environment.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { LiveLimits } from './limits/edit-outcomes.ts';
import { LimitStore } from './limits/limit-store.ts';
import { DynamoLimitTable, type DynamoLimitTableOptions, type LimitTable } from './limits/limit-table.ts';

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
    packed,
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

/** A document with the short hash of its content, as the build wrote it. */
type Versioned = { readonly version: string; readonly document: unknown };

export interface RulesFile extends Readonly<Record<'policy' | 'limits', Versioned>> {
  readonly directory?: unknown;
  /** The clocks of every zone that the documents name. @default they are looked up when they are needed */
  readonly zones?: Readonly<Record<string, ZoneTable>>;
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

export function readPackedPrices(file: string): { readonly policyVersion: string; readonly text: string } {
  const { policy } = readPacked(file);
  const { currency, prices } = isRecord(policy.document) ? policy.document : {};
  return { policyVersion: policy.version, text: JSON.stringify({ currency, prices }) };
}

export type LimitsInForce = Pick<LiveLimits, 'document' | 'limits'>;

/** With limits as written; they are in force until a first set is live. @throws {Error} like {@link readRulesFile} */
export function readPackedRules(file: string) {
  const packed = readPacked(file);
  const { policy, limits, directory } = readRulesFile(file, packed);
  const document = isRecord(packed.limits.document) ? packed.limits.document : {};
  return { policy, directory, limits: { document, limits } satisfies LimitsInForce };
}

/** Packed documents, and limits and the directory from the ledger's table. @throws like {@link readRulesFile} */
export function deployedRules({
  rulesFile,
  table,
  ledger,
  log,
  onUnreadable,
}: Pick<RulesInForceDeps, 'ledger' | 'log' | 'onUnreadable'> & {
  readonly rulesFile: string;
  readonly table: DynamoLimitTableOptions;
}): RulesInForce & { readonly handOutDirectory: HandOutDirectory } {
  const packed = readRulesFile(rulesFile);
  const directoryTable = new DynamoDirectoryTable(table);
  const directory = new DirectoryStore({
    table: directoryTable,
    packed: packed.directory,
    clock: table.clock,
    log,
  });
  const inForce = rulesInForce(packed, {
    table: new DynamoLimitTable(table),
    ledger,
    clock: table.clock,
    log,
    directoryFor: (jobs) => directory.directoryFor(jobs),
    onUnreadable,
  });
  // Starts both reads early, for the first request; a failure is repeated by that request.
  void Promise.all([inForce.directoryFor([]), inForce.limitsFor([])]).catch(() => {});
  return { ...inForce, handOutDirectory: directoryHandOut({ table: directoryTable, clock: table.clock }) };
}
