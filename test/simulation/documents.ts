/** Writes a set of rules as the documents that people write, and reads it with the product's parsers. */
import type { Rules } from '../../functions/core/admission/judge.ts';
import { indexDirectory } from '../../policies/directory.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../policies/document/reading.ts';
import { type CountedUnit, groupChainOf, type RuleSet, type WrittenLimit } from './rulebook/rule-set.ts';

export interface Company {
  readonly names: ReadonlyMap<number, string>;
  readonly classes: readonly string[];
  readonly estimateSeconds: number;
}

const pathOfGroup = (id: number, { parentOf }: RuleSet, { names }: Company): string =>
  groupChainOf(id, parentOf)
    .map((each) => names.get(each) ?? '')
    .join('/');

export const pathOfProject = (id: number, ruleSet: RuleSet, company: Company): string =>
  `${pathOfGroup(ruleSet.groupOf.get(id) ?? 0, ruleSet, company)}/${company.names.get(id) ?? ''}`;

const MICROS = 1_000_000;
const SOURCE = 'simulation';

export function rulesOf(ruleSet: RuleSet, company: Company): Omit<Rules, 'estimator'> {
  const policy = valid(parsePolicy(policyDocument(ruleSet, company), SOURCE));
  const groupIds = [...company.names.keys()].filter((id) => !ruleSet.groupOf.has(id));
  const groups = groupIds
    .map((id) => ({ id, chain: groupChainOf(id, ruleSet.parentOf) }))
    .sort((a, b) => a.chain.length - b.chain.length)
    .map(({ id, chain }) => {
      const parentId = chain.at(-2);
      const path = pathOfGroup(id, ruleSet, company);
      return { id, path, personal: false, ...(parentId !== undefined && { parentId }) };
    });
  const projects = [...ruleSet.groupOf].map(([id, groupId]) => ({
    ...{ id, groupId, path: pathOfProject(id, ruleSet, company) },
  }));
  const directory = indexDirectory(groups, projects);
  return {
    policy,
    directory,
    limits: valid(parseLimits(limitsDocument(ruleSet), SOURCE, policy, directory)),
  };
}

const policyDocument = (
  { prices, byMinute, exemptions }: RuleSet,
  { classes, estimateSeconds }: Company,
) => ({
  currency: 'EUR',
  prices: prices.map(({ version, fromMs, rates }, index) => ({
    version,
    ...(index > 0 && { from: instant(fromMs), allow_jump: true }),
    classes: classes.map((name) => ({
      ...{ name, tags: [name], rate_per_minute: decimal(rates[name] ?? 0) },
      round: byMinute.includes(name) ? 'minute' : 'second',
    })),
    default_class: 'small',
  })),
  estimate: { default: `${estimateSeconds}s` },
  rules: [
    {
      ...{ id: 'budgets', kind: 'budget', mode: 'enforce' },
      exempt: exemptions.map(({ groupId, jobName, untilMs }) => ({
        ...{ groups: [groupId], jobs: [jobName], reason: 'deployments go on', until: instant(untilMs) },
      })),
    },
    { id: 'concurrent-jobs', kind: 'concurrency', mode: 'enforce' },
    { id: 'job-starts', kind: 'window', mode: 'enforce' },
  ],
});

const limitsDocument = ({ limits, grants }: RuleSet) => ({
  limits: limits.map(({ subject, id, unit, per, zone, fiscalStart, mode, amount, waitSeconds }) => ({
    on: onOf(subject),
    id,
    [KEY[unit]]: written(amount, unit),
    ...(per !== undefined && { per }),
    ...(per !== undefined && per !== 'hour' && per !== 'once' && { zone }),
    ...(fiscalStart !== undefined && { fiscal_start: fiscalStart }),
    mode,
    ...(waitSeconds !== undefined && { wait: `${waitSeconds}s` }),
  })),
  grants: grants.map(({ subject, limit, amount, fromMs, untilMs }) => ({
    ...{ on: onOf(subject), limit, from: instant(fromMs), until: instant(untilMs), reason: 'release week' },
    amount: written(amount, limits.find((each) => each.subject === subject && each.id === limit)?.unit),
  })),
});

const KEY: Readonly<Record<CountedUnit, string>> = {
  micros: 'money',
  seconds: 'minutes',
  starts: 'starts',
  jobs: 'jobs',
};

function onOf(subject: string): Record<string, number | string> | string {
  if (subject === 'instance') return subject;
  const [kind = '', name = ''] = subject.split('/');
  return kind === 'runner-class' ? { runner_class: name } : { [kind]: Number(name) };
}

function written(amount: WrittenLimit['amount'], unit: CountedUnit | undefined): number | string {
  if (amount === 'unlimited') return amount;
  if (unit === 'micros') return decimal(amount);
  return unit === 'seconds' ? amount / 60 : amount;
}

const instant = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 16)}+00:00`;

const decimal = (micros: number): string =>
  `${Math.floor(micros / MICROS)}.${String(micros % MICROS).padStart(6, '0')}`;

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
