/** An edition as the documents people write, read by the real parsers. */
import type { Rules } from '../../functions/core/admission/judge.ts';
import { parseDirectory } from '../../policies/document/parse-directory.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../policies/document/reading.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import {
  CLASSES,
  chainOf,
  DEFAULT_TIMEOUT_SECONDS,
  ESTIMATE_SECONDS,
  type ModelLimit,
  PATH_OF,
  ROOTS,
  ROUNDED_UP_TO_SECONDS,
  type Tree,
} from './places.ts';
import type { Edition } from './rulebook.ts';

const MICROS = 1_000_000;

export function rulesOf(edition: Edition): Rules {
  const policy = valid(
    parsePolicy(
      {
        currency: 'EUR',
        prices: edition.prices.map(({ version, fromMs, rates }) => ({
          version,
          ...(Number.isFinite(fromMs) && { from: instant(fromMs), allow_jump: true }),
          classes: CLASSES.map((name) => ({
            name,
            tags: [name],
            rate_per_minute: decimal(rates[name]),
            round: ROUNDED_UP_TO_SECONDS[name] === 60 ? 'minute' : 'second',
          })),
          default_class: 'small',
        })),
        estimate: { default: `${ESTIMATE_SECONDS}s`, timeout: `${DEFAULT_TIMEOUT_SECONDS}s` },
        rules: [
          { id: 'budgets', kind: 'budget', mode: 'enforce' },
          { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
          { id: 'starts', kind: 'window', mode: 'enforce' },
        ],
      },
      'model',
    ),
  );
  const directory = valid(parseDirectory(directoryDocument(edition.tree)));
  const limits = valid(parseLimits(limitsDocument(edition), 'model', policy, directory));
  return { policy, limits, directory, estimator: timeoutEstimator };
}

const directoryDocument = (tree: Tree) => ({
  groups: [...tree.parentOf.keys(), ...ROOTS]
    .sort((a, b) => chainOf(a, tree).length - chainOf(b, tree).length)
    .map((id) => ({ id, parent: tree.parentOf.get(id), path: pathOfGroup(id, tree) })),
  projects: [...tree.groupOf].map(([id, group]) => ({ id, group, path: pathOfProject(id, tree) })),
});

const pathOfGroup = (id: number, tree: Tree): string =>
  chainOf(id, tree)
    .map((each) => PATH_OF[each])
    .join('/');

export const pathOfProject = (id: number, tree: Tree): string =>
  `${pathOfGroup(tree.groupOf.get(id) ?? 0, tree)}/p${id}`;

const limitsDocument = ({ limits, grants }: Edition) => ({
  limits: limits.map(({ subject, id, unit, per, zone, mode, amount }) => ({
    on: onOf(subject),
    id,
    [KIND[unit]]: amount === 'unlimited' ? amount : written(amount, unit),
    mode,
    ...(per !== undefined && { per }),
    ...((per === 'day' || per === 'month') && { zone }),
  })),
  grants: grants.map(({ limit, amount, fromMs, untilMs }) => ({
    on: onOf(limit.subject),
    limit: limit.id,
    amount: written(amount, limit.unit),
    from: instant(fromMs),
    until: instant(untilMs),
    reason: 'release week',
  })),
});

const KIND: Readonly<Record<ModelLimit['unit'], string>> = {
  micros: 'money',
  seconds: 'minutes',
  jobs: 'jobs',
  starts: 'starts',
};

const onOf = (subject: string): Record<string, number> | string => {
  if (subject === 'instance') return subject;
  const [kind = '', id = ''] = subject.split('/');
  return { [kind]: Number(id) };
};

const written = (amount: number, unit: ModelLimit['unit']): number | string =>
  unit === 'micros' ? decimal(amount) : unit === 'seconds' ? amount / 60 : amount;

/** `2026-11-21T12:00+00:00`: whole minutes. */
const instant = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 16)}+00:00`;

/** 61 300 → `0.061300` */
const decimal = (micros: number): string =>
  `${Math.floor(micros / MICROS)}.${String(micros % MICROS).padStart(6, '0')}`;

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
