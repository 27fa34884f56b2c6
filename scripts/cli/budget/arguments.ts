import { userInfo } from 'node:os';
import { isSubject } from '../../../functions/answers/limits/filters.ts';
import type { OwnLimit } from '../../../functions/answers/limits/models.ts';
import { type Directory, pathKey } from '../../../policies/directory.ts';
import { closest } from '../../../policies/document/reading.ts';
import { readWrittenAmount, readWrittenDay } from '../../../policies/document/written.ts';
import { capWords, parseCap } from '../../../policies/limits/cap.ts';
import { PERIOD_KINDS, type PeriodKind } from '../../../policies/limits/period.ts';
import { LIMIT_KINDS, type LimitKind, UNIT_OF } from '../../../policies/unit.ts';
import { UNIT_TEXTS } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { text, toggle } from '../../terminal/define.ts';
import { readInProcess } from '../api/answers.ts';
import type { BudgetContext } from '../api/open-api.ts';
import { LEDGER_FLAGS } from '../ledger-flags.ts';

export const BUDGET_FLAGS = {
  policy: text('<file>', 'the policy they are used with (default: policies/policy.yaml of this project)'),
  limits: text('<file>', 'the limits until a set is published (default: policies/limits.yaml)'),
  directory: text(
    '<file>',
    'groups and projects (default: as synced from GitLab, else policies/directory.yaml)',
  ),
  ...LEDGER_FLAGS,
};

export const ACTOR_FLAG = text('<name>', 'the author (default: the user of this machine)');

export const REASON_FLAG = text('<text>', 'why, for the change log (needed unless it is a dry run)');
export const BASE_FLAG = text(
  '<set>',
  'the set this is an edit of; refused if another is live (default: the live one; none: this edit begins the first set)',
);

export const EDIT_FLAGS = {
  'dry-run': toggle(
    'shows what would change, and which jobs of the last 30 days would have failed; writes nothing',
  ),
  reason: REASON_FLAG,
  actor: ACTOR_FLAG,
  base: BASE_FLAG,
  confirm: toggle('applies an edit that the command did not apply without confirmation'),
  ...BUDGET_FLAGS,
};

export const EDIT_EXITS = {
  0: 'live',
  1: 'the table does not answer (see tollgate budget history)',
  2: 'nothing changed: refused, waits for approval, needs --confirm, or another edit was first',
  3: 'invalid',
} as const;

/** Undefined in containers without one. */
export function osUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

function shortText(given: string | undefined, flag: string, what: string, charactersMax: number): string {
  const text = given?.trim() ?? '';
  if (/^\P{Cc}+$/u.test(text) && text.length <= charactersMax) return text;
  throw new UsageError(`--${flag}: expected ${what} in one line, in at most ${charactersMax} characters`);
}

export const readActor = ({ actor }: { readonly actor?: string | undefined }, io: TerminalIo): string =>
  shortText(actor ?? standIn(io, osUserName)(), 'actor', 'the author', 200);

export const readReason = (reason: string | undefined, flag = 'reason'): string =>
  shortText(reason, flag, 'why', 500);

/** Reads a day as people write it. @throws {UsageError} if it could be two days. */
export function readDayFlag(given: string, flag: string): string {
  const read = readWrittenDay(given);
  if (read.ok) return read.text;
  throw new UsageError(`--${flag}: ${read.message}`);
}

export const SUBJECT_HELP =
  'a full path such as acme/payments, or GitLab\'s id; also instance, a project\'s path, project/7, runner-class/large, user/5, personal, "groups/acme/team-*", or group/101/each/pipeline';

export function parseSubject(word: string, directory: Directory): string {
  const { groupByPath, projectByPath } = directory;
  const group = groupByPath.get(pathKey(word));
  if (group !== undefined) return `group/${group.id}`;
  // The group of an unknown id may be younger than the last sync.
  if (/^[1-9]\d{0,14}$/.test(word)) return `group/${word}`;
  const project = projectByPath.get(pathKey(word));
  if (project !== undefined) return `project/${project.id}`;
  if (isSubject(word)) return word;
  const like = closest(pathKey(word), [...groupByPath.keys(), ...projectByPath.keys()]);
  const hint = like && `did you mean ${like}?`;
  throw new UsageError(
    `"${word}": the directory knows no group or project of this path; ${hint ?? "expected a path, GitLab's id of a group, or a subject such as project/7"}`,
  );
}

/** The same for views: a subject that neither the directory nor a limit knows would look as if it had no limit. */
export async function knownSubject(
  word: string,
  { api, directory, runnerClasses: classes = [] }: Pick<BudgetContext, 'api' | 'directory' | 'runnerClasses'>,
): Promise<string> {
  const subject = parseSubject(word, directory);
  const [kind, name = ''] = subject.split('/');
  const isUnknown =
    (kind === 'group' && !directory.groupById.has(Number(name))) ||
    (kind === 'project' && !directory.projectById.has(Number(name))) ||
    (kind === 'runner-class' && !classes.includes(name));
  if (!isUnknown || (await ownLimits(subject, { api })).length > 0) return subject;
  throw new UsageError(
    kind === 'runner-class'
      ? `"${word}": is no runner class of the policy${classes.length === 0 ? ' with limits' : `; expected one of ${classes.join(', ')}`}`
      : `"${word}": the directory knows no ${kind} of this id; expected a path, or an id it has`,
  );
}

export function subjectText(subject: string, directory: Directory): string {
  const cap = parseCap(subject);
  if (cap !== undefined) return `${capWords(cap.kind)} of ${subjectText(cap.place, directory)}`;
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory.groupById.get(Number(id))?.path ?? subject;
  return (kind === 'project' ? directory.projectById.get(Number(id))?.path : undefined) ?? subject;
}

interface LimitChoice extends Pick<AmountWords, 'unit' | 'per'> {
  readonly word: string;
  readonly id?: string | undefined;
}

const ownLimits = (subject: string, { api }: Pick<BudgetContext, 'api'>): Promise<readonly OwnLimit[]> =>
  readInProcess(api.limits.own.$get({ query: { subject } }));

export async function pickLimit(
  subject: string,
  { word, id, unit, per }: LimitChoice,
  budget: Pick<BudgetContext, 'api'>,
): Promise<OwnLimit | undefined> {
  const own = await ownLimits(subject, budget);
  if (id !== undefined) return own.find((limit) => limit.id === id);
  const fitting = own.filter(
    (limit) => (unit === undefined || limit.kind === unit) && (per === undefined || limit.per === per),
  );
  // One year's limit ends as the next one begins: the one in force now is meant.
  const now = fitting.filter(({ inForce }) => inForce);
  if (fitting.length <= 1 || now.length === 1) return now[0] ?? fitting[0];
  throw new UsageError(
    `${word} has several limits like this; expected --limit with one of ${fitting.map((each) => each.id).join(', ')}`,
  );
}

export async function neededLimit(subject: string, wanted: LimitChoice, budget: Pick<BudgetContext, 'api'>) {
  const found = await pickLimit(subject, wanted, budget);
  if (found !== undefined) return found;
  const ids = (await ownLimits(subject, budget)).map(({ id }) => id);
  const has = ids.length === 0 ? 'it has none of its own' : `expected one of ${ids.join(', ')}`;
  throw new UsageError(`${wanted.word} has no ${wanted.id ?? 'limit like this'}; ${has}`);
}

export interface AmountWords {
  /** As in limits.yaml: `500.25`, `unlimited`, `+200`, `256Gi`; `+20%`, a share of the current amount. */
  readonly amount: string;
  readonly unit?: LimitKind;
  readonly per?: PeriodKind;
}

const UNITS: ReadonlyMap<string, LimitKind> = new Map(
  LIMIT_KINDS.flatMap((kind) => UNIT_TEXTS[UNIT_OF[kind]].words.map((word) => [word, kind] as const)),
);
const PERIOD = /^(.*?)\s*\/\s*([a-z]+)$/i;
const UNIT = /^(.*\S)\s+([a-z]+)$/i;

/** Reads `500 EUR/month`, `1000 min/week`, `20 jobs`, `256Gi memory`, `500`. @throws {UsageError} with the example */
export function readAmountWords(
  words: readonly string[],
  currency: string,
  example = `500 ${currency}/month or 20 jobs`,
): AmountWords {
  const written = words.join(' ');
  const [, before = written, perWord] = PERIOD.exec(written) ?? [];
  const [, number = before, unitWord] = UNIT.exec(before) ?? [];
  const isCurrency = unitWord?.toUpperCase() === currency;
  const named = isCurrency ? 'money' : UNITS.get(unitWord?.toLowerCase() ?? '');
  const isShare = /^[-+][^%]*%$/.test(number);
  const read = isShare ? undefined : readWrittenAmount(named === undefined ? before : number, { currency });
  if (read?.ok === false) throw new UsageError(read.message);
  if (unitWord !== undefined && named === undefined && (isShare || read?.isMoney !== true)) {
    const units = LIMIT_KINDS.slice(1).map((kind) => UNIT_TEXTS[UNIT_OF[kind]].words[0]);
    throw new UsageError(`"${unitWord}": expected ${[currency, ...units].join(', ')} after the amount`);
  }
  const amount = read?.text ?? number;
  if (/\s/.test(amount) || amount === '')
    throw new UsageError(`"${written}": expected an amount such as ${example}`);
  const unit = named ?? (read?.isMoney ? 'money' : undefined);
  const per = perWord === undefined ? undefined : PERIOD_KINDS.find((kind) => kind === perWord.toLowerCase());
  if (perWord !== undefined && per === undefined)
    throw new UsageError(`"${perWord}" in "${written}": expected a period: ${PERIOD_KINDS.join(', ')}`);
  return { amount, ...withoutAbsent({ unit, per }) };
}
