/** Keeps a record within one write unit. Labels and surplus violations go, in a fixed order; the claims never do. */
import type { Violation } from '../../../policies/reason.ts';
import { type Item, itemBytes, type LedgerKeys } from '../store/index.ts';
import { encodeRecord } from './item.ts';
import type { JobFacts, JobRecord } from './ledger.ts';

/** One write unit. A second one would double what every job costs. */
const RECORD_BYTES_MAX = 1024;

const LABEL_CHARACTERS_MAX = 60;

/** The record's item, shortened until it fits. Twenty-four claims on long names may still exceed it: they are the charge. */
export function recordItem(record: JobRecord, keys: LedgerKeys): Item {
  let item = encodeRecord(record, keys);
  if (itemBytes(item) <= RECORD_BYTES_MAX) return item;
  let shorter = record;
  for (const shorten of SHORTENINGS) {
    for (;;) {
      const next = shorten(shorter);
      if (next === undefined) break;
      shorter = next;
      item = encodeRecord(shorter, keys);
      if (itemBytes(item) <= RECORD_BYTES_MAX) return item;
    }
  }
  return item;
}

/** From what is missed least to what is missed most. Each is applied until it has nothing left to take. */
const SHORTENINGS: readonly ((record: JobRecord) => JobRecord | undefined)[] = [
  (record) => {
    const shadow = record.shadow.map(withoutExtras);
    return shadow.some((each, index) => each !== record.shadow[index]) ? { ...record, shadow } : undefined;
  },
  withoutRequest,
  (record) =>
    withFacts(record, { jobName: cut(record.facts.jobName), projectPath: cut(record.facts.projectPath) }),
  (record) => (record.shadow.length === 0 ? undefined : { ...record, shadow: record.shadow.slice(0, -1) }),
  (record) => withFacts(record, { jobName: undefined, projectPath: undefined }),
  (record) => withViolations(record, record.violations.map(withoutExtras)),
  (record) =>
    record.violations.length <= 1 ? undefined : { ...record, violations: record.violations.slice(0, -1) },
  (record) => withViolations(record, record.violations.map(withShortTexts)),
];

/** Whole: half a question asked again would get half an answer. */
function withoutRequest(record: JobRecord): JobRecord | undefined {
  const { asked, ...facts } = record.facts;
  return asked === undefined ? undefined : { ...record, facts };
}

const cut = (label: string | undefined): string | undefined =>
  label === undefined ? undefined : [...label].slice(0, LABEL_CHARACTERS_MAX).join('');

function withFacts(
  record: JobRecord,
  labels: { readonly jobName: string | undefined; readonly projectPath: string | undefined },
): JobRecord | undefined {
  const { jobName, projectPath, ...rest } = record.facts;
  if (labels.jobName === jobName && labels.projectPath === projectPath) return undefined;
  const facts: JobFacts = {
    ...rest,
    ...(labels.jobName === undefined ? {} : { jobName: labels.jobName }),
    ...(labels.projectPath === undefined ? {} : { projectPath: labels.projectPath }),
  };
  return { ...record, facts };
}

function withViolations(record: JobRecord, violations: readonly Violation[]): JobRecord | undefined {
  const changed = violations.some((violation, index) => violation !== record.violations[index]);
  return changed ? { ...record, violations } : undefined;
}

/** What a person could look up elsewhere: whose limit it is, the zone, further patterns. */
const EXTRAS: readonly string[] = ['owner', 'zone', 'allowed'];

const withoutExtras = (violation: Violation): Violation =>
  withReason(violation, (name, value) =>
    !EXTRAS.includes(name) || isEmptyList(value) ? value : Array.isArray(value) ? [] : undefined,
  );

const withShortTexts = (violation: Violation): Violation =>
  withReason(violation, (_, value) => (typeof value === 'string' ? cut(value) : value));

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** The same violation object when nothing changes. */
function withReason(violation: Violation, change: (name: string, value: unknown) => unknown): Violation {
  let changed = false;
  const entries = Object.entries(violation.reason).flatMap(([name, value]) => {
    const next = change(name, value);
    if (next !== value) changed = true;
    return next === undefined ? [] : [[name, next] as const];
  });
  return changed
    ? { ...violation, reason: Object.fromEntries(entries) as unknown as Violation['reason'] }
    : violation;
}
