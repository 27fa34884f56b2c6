/** An edition as the documents people write, through the same parsers that read the files of a deployment. */
import type { Rules } from '../../../functions/core/admission/index.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/reading.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import type { CountedUnit, Edition, WrittenLimit } from './expected/edition.ts';
import type { Tree } from './tree.ts';
import { ESTIMATE_DEFAULT_SECONDS, RUNNER_CLASSES } from './workload.ts';

const MICROS = 1_000_000;
const SOURCE = 'simulated month';

export function monthRules(edition: Edition, tree: Tree): Omit<Rules, 'estimator'> {
  const policy = valid(parsePolicy(policyDocument(edition), SOURCE));
  const directory = directoryOf(
    tree.groups.map((group) => ({ ...group, personal: false })),
    tree.projects,
  );
  return {
    policy,
    limits: valid(parseLimits(limitsDocument(edition), SOURCE, policy, directory)),
    directory,
  };
}

const policyDocument = ({ prices, exemptions }: Edition) => ({
  currency: 'EUR',
  prices: prices.map(({ version, fromMs, rates }, index) => ({
    version,
    ...(index > 0 && { from: instant(fromMs) }),
    classes: RUNNER_CLASSES.map((name) => ({
      name,
      tags: [name],
      rate_per_minute: decimal(rates[name] ?? 0),
    })),
    default_class: 'small',
  })),
  estimate: { default: `${ESTIMATE_DEFAULT_SECONDS}s` },
  rules: [
    {
      id: 'budgets',
      kind: 'budget',
      mode: 'enforce',
      exempt: exemptions.map(({ groupId, jobName, untilMs }) => ({
        groups: [groupId],
        jobs: [jobName],
        reason: 'deployments go on',
        until: instant(untilMs),
      })),
    },
    { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
    { id: 'job-starts', kind: 'window', mode: 'enforce' },
  ],
});

const limitsDocument = ({ limits, grants }: Edition) => ({
  limits: limits.map(({ subject, unit, per, zone, fiscalStart, mode, amount, waitSeconds }) => ({
    on: onOf(subject),
    [KEY[unit]]: written(amount, unit),
    ...(per !== undefined && { per }),
    ...(per !== undefined && per !== 'hour' && { zone }),
    ...(fiscalStart !== undefined && { fiscal_start: fiscalStart }),
    mode,
    ...(waitSeconds !== undefined && { wait: `${waitSeconds}s` }),
  })),
  grants: grants.map(({ subject, limit, amount, fromMs, untilMs }) => ({
    on: onOf(subject),
    limit,
    amount: decimal(amount),
    from: instant(fromMs),
    until: instant(untilMs),
    reason: 'release week',
  })),
});

const KEY: Readonly<Record<CountedUnit, string>> = {
  micros: 'money',
  seconds: 'minutes',
  starts: 'starts',
  jobs: 'jobs',
};

/** `group/101` → `{ group: 101 }`, `runner-class/large` → `{ runner_class: large }`. */
function onOf(subject: string): Record<string, number | string> {
  const [kind = '', name = ''] = subject.split('/');
  return kind === 'runner-class' ? { runner_class: name } : { [kind]: Number(name) };
}

function written(amount: WrittenLimit['amount'], unit: CountedUnit): number | string {
  if (amount === 'unlimited') return amount;
  if (unit === 'micros') return decimal(amount);
  return unit === 'seconds' ? amount / 60 : amount;
}

/** `2026-11-21T12:00+00:00`: whole minutes. */
const instant = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 16)}+00:00`;

/** 61 300 → `0.061300` */
const decimal = (micros: number): string =>
  `${Math.floor(micros / MICROS)}.${String(micros % MICROS).padStart(6, '0')}`;

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
