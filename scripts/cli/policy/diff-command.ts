import { execFileSync } from 'node:child_process';
import { relative, resolve } from 'node:path';
import {
  type ComparedRules,
  compareRules,
  type RuleDifference,
} from '../../../functions/answers/backtest/compare-rules.ts';
import type { BacktestRules } from '../../../functions/answers/backtest/question.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { limitsIn, policyIn, readDirectory } from '../../policy/read-documents.ts';
import { parseYaml, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { EXIT, type ExitCode, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { severalWords, text, toggle } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { type LedgerFlags, TABLE_FLAGS } from '../ledger-flags.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, type RulesFiles, type RulesFlags, rulesFiles } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { limitChanges } from './diff/diff-limits.ts';
import { policyChanges } from './diff/diff-policies.ts';
import { jumpsBetween, jumpText, type LaterPriceJump } from './diff/price-jumps-between.ts';
import type { PolicyChange, PolicyEffect } from './diff/values.ts';

const policyDiff = command({
  name: 'policy diff',
  about: `Compares two policies by their meaning, not by their lines, and shows of each change whether it tightens (more jobs may be
rejected), loosens, is neutral, or could loosen. A price that becomes many times another one is most likely a typing error: exit 2
until it is corrected, confirmed in the prices (allow_jump: true), or --force is given.

Lists are compared by their entries: an added or removed entry has a direction. A list with added and removed entries, a changed
pattern and a field without a direction are reported as "could loosen". With --since both policies decide the jobs that the ledger
recorded, as far as rules decide without counters.`,
  words: {
    files: severalWords(
      '[<old.yaml> <new.yaml>]',
      'two policies, or two limits documents; without them --base is needed',
      [0, 2],
    ),
  },
  expects: 'two files, <old.yaml> <new.yaml>',
  flags: {
    base: text('<commit>', 'compares policy and limits of this commit, branch or tag with those here'),
    ...RULES_FLAGS,
    since: text(
      '<time>',
      `also decides jobs recorded since then: 14d, 36h, 8w ago, a day or an instant. ${SPAN_HELP}`,
    ),
    ...TABLE_FLAGS,
    force: toggle('prices that jump are intended'),
    'exit-code': toggle('exit 2 if there is any difference'),
  },
  examples: [
    'tollgate policy diff --base main --exit-code',
    'tollgate policy diff old.yaml new.yaml --since 14d --ledger tollgate-ledger',
  ],
  exits: {
    0: 'compared',
    1: 'the ledger does not answer',
    2: 'a price jumps, or with --exit-code there is a difference',
    3: 'wrong usage or an invalid document',
  },
  run: async ({ flags, words }, io) => diff(words.files, flags, io),
});

export const commands = [policyDiff];

interface DiffFlags extends LedgerFlags, RulesFlags {
  readonly base: string | undefined;
  readonly since: string | undefined;
  readonly force: boolean;
  readonly 'exit-code': boolean;
  readonly json: boolean;
}

async function diff(words: readonly string[], values: DiffFlags, io: TerminalIo): Promise<ExitCode> {
  const files = rulesFiles(values, io);
  const { changes, jumps, rules } =
    values.base === undefined ? betweenFiles(words, files, io) : sinceBase(values.base, words, files, io);
  const recorded =
    values.since === undefined ? undefined : await replayRecorded(values.since, values, rules(), io);
  const refused = jumps.length > 0 && !values.force;
  if (values.json)
    io.out(`${JSON.stringify({ different: changes.length > 0, changes, jumps, ...recorded })}\n`);
  else {
    tell(changes, io);
    if (recorded !== undefined)
      io.out(`\n${recordedText(recorded.recorded, recorded.ledger).map(printable).join('\n')}\n`);
    if (!values.force) tellJumps(jumps, io);
  }
  return refused || (values['exit-code'] && changes.length > 0) ? EXIT.wouldReject : EXIT.ok;
}

async function replayRecorded(
  since: string,
  flags: LedgerFlags,
  [from, to]: readonly [BacktestRules, BacktestRules],
  io: TerminalIo,
): Promise<{ readonly recorded: ComparedRules; readonly ledger: string }> {
  const span = readSpan(since, undefined, io.nowMs(), rollupZone(io));
  // Only --since needs the modules of the ledger.
  const { openLedger } = await import('../open-ledger.ts');
  const ledger = await standIn(io, openLedger)(flags, io);
  const progress = progressOf('jobs asked again', io);
  try {
    const recorded = await compareRules(ledger.store, { ...span, from, to, onJob: progress.step });
    return { recorded, ledger: ledger.description };
  } finally {
    progress.done();
    await ledger.close();
  }
}

const EFFECTS: readonly PolicyEffect[] = ['tightens', 'loosens', 'could loosen', 'neutral'];

function tell(changes: readonly PolicyChange[], io: TerminalIo): void {
  if (changes.length === 0) {
    io.out('no difference\n');
    return;
  }
  const paint = paintWhen(io.colours);
  const rows = changes.map(({ at, what, effect }) => [
    painted(effect, paint),
    printable(at),
    printable(what),
  ]);
  const counts = EFFECTS.flatMap((effect) => {
    const count = changes.filter((each) => each.effect === effect).length;
    return count === 0 ? [] : [`${count} ${effect}`];
  });
  const changed = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  io.out(`${table([{}, {}, {}], rows, io.columns)}\n${changed}: ${counts.join(', ')}\n`);
}

function tellJumps(jumps: readonly LaterPriceJump[], io: TerminalIo): void {
  for (const jump of jumps)
    io.err(`${printable(jumpText(jump))}: correct it, write allow_jump: true there, or say --force\n`);
}

function painted(effect: PolicyEffect, paint: Paint): string {
  switch (effect) {
    case 'tightens':
      return paint.warn(effect);
    case 'loosens':
      return paint.bad(effect);
    case 'could loosen':
      return paint.strong(effect);
    case 'neutral':
      return paint.dim(effect);
  }
}

/** Differences of two documents, or two pairs. */
interface DiffedDocuments {
  readonly changes: readonly PolicyChange[];
  readonly jumps: readonly LaterPriceJump[];
  /** Rules before and after; loaded on demand. */
  readonly rules: () => readonly [BacktestRules, BacktestRules];
}

/** Two policies, or two limits documents. @throws {UsageError} for anything else. */
export function betweenFiles(words: readonly string[], files: RulesFiles, io: TerminalIo): DiffedDocuments {
  const [old, recent] = words.map((word) => readYaml(resolve(io.cwd, word)));
  if (old === undefined || recent === undefined)
    throw new UsageError('expected two files, <old.yaml> <new.yaml>, or --base <commit, branch or tag>');
  const [one, other] = [isLimits(old), isLimits(recent)];
  if (one !== other)
    throw new UsageError(`${words.join(' ')}: one is a policy, the other has limits; expected two of a kind`);
  const limits = () => readYaml(files.limits);
  if (!one) {
    const rules = () => rulesOf([old, recent], [limits(), limits()], files);
    return { ...policiesBetween(old, recent, io), rules };
  }
  const policy = readYaml(files.policy);
  return {
    changes: limitsBetween([old, recent], [policy], files, io),
    jumps: [],
    rules: () => rulesOf([policy, policy], [old, recent], files),
  };
}

const isLimits = ({ value }: YamlDocument): boolean =>
  isRecord(value) && value.rules === undefined && (value.limits ?? value.rollout) !== undefined;

/** Policy and limits of a commit against those here. */
export function sinceBase(
  ref: string,
  words: readonly string[],
  files: RulesFiles,
  io: TerminalIo,
): DiffedDocuments {
  if (words.length > 0) throw new UsageError(`${words.join(' ')}: expected no files beside --base`);
  const policies = [documentAt(ref, files.policy, io), readYaml(files.policy)] as const;
  const limits = [documentAt(ref, files.limits, io), readYaml(files.limits)] as const;
  const { changes, jumps } = policiesBetween(...policies, io);
  return {
    changes: [...changes, ...limitsBetween(limits, policies, files, io)],
    jumps,
    rules: () => rulesOf(policies, limits, files),
  };
}

function rulesOf(
  policies: readonly [YamlDocument, YamlDocument],
  limits: readonly [YamlDocument, YamlDocument],
  files: RulesFiles,
): readonly [BacktestRules, BacktestRules] {
  const directory = readDirectory(files.directory);
  const side = (index: 0 | 1): BacktestRules => {
    const policy = policyIn(policies[index]).model;
    return { policy, limits: limitsIn(limits[index], policy, directory).model, directory };
  };
  return [side(0), side(1)];
}

function policiesBetween(
  old: YamlDocument,
  recent: YamlDocument,
  io: TerminalIo,
): Omit<DiffedDocuments, 'rules'> {
  const [from, to] = [old, recent].map((document) => ({
    policy: policyIn(document).model,
    document: document.value,
  }));
  if (from === undefined || to === undefined) return { changes: [], jumps: [] };
  const nowMs = io.nowMs();
  return { changes: policyChanges(from, to, nowMs), jumps: jumpsBetween(from, to, nowMs) };
}

/** Each with the policy it was used with: the classes it names may be gone by now. */
function limitsBetween(
  [old, recent]: readonly [YamlDocument, YamlDocument],
  [oldPolicy, policy = oldPolicy]: readonly [YamlDocument, YamlDocument?],
  files: RulesFiles,
  io: TerminalIo,
): readonly PolicyChange[] {
  return limitChanges({
    from: limitsIn(old, policyIn(oldPolicy).model).model,
    to: limitsIn(recent, policyIn(policy).model).model,
    directory: readDirectory(files.directory),
    nowMs: io.nowMs(),
  });
}

const TIMEOUT_MS = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * A document as it was at a commit, branch or tag.
 *
 * @throws {UsageError} if git does not know the ref or the file there.
 */
export function documentAt(ref: string, file: string, { root }: Pick<TerminalIo, 'root'>): YamlDocument {
  // Anything else could be an option of git's, or a second path.
  if (!/^[\w][\w./@{}^~+-]*$/.test(ref))
    throw new UsageError(`--base "${ref}": expected a commit, branch or tag`);
  const path = relative(root, file);
  if (path.startsWith('..'))
    throw new UsageError(`--base: ${file} is not in ${root}; name both files instead`);
  try {
    const text = execFileSync('git', ['show', `${ref}:./${path}`], {
      cwd: root,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      maxBuffer: BYTES_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return parseYaml(text, `${ref}:${path}`);
  } catch (error) {
    const said =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : '';
    if (said === undefined || said === '') throw error;
    throw new UsageError(`--base "${ref}": git cannot show ${path} there (${said})`);
  }
}

/** Results of both policies for recorded jobs, one sentence per line. */
export function recordedText(
  { jobs, unrecorded, variablesLost, newlyRejected, newlyAdmitted, byRule }: ComparedRules,
  ledger: string,
): readonly string[] {
  return [
    `${shadowCount(jobs)} recorded jobs (${ledger}) asked again: ${shadowCount(newlyRejected)} would newly be rejected by a rule, ${shadowCount(newlyAdmitted)} no longer.`,
    ...byRule.map(differenceText),
    ...(unrecorded > 0
      ? [`${shadowCount(unrecorded)} more could not be asked: their records do not have what rules look at.`]
      : []),
    ...(variablesLost > 0
      ? [
          `${shadowCount(variablesLost)} had variables, which are never kept: rules that read them say what they said then.`,
        ]
      : []),
    'What depends on counters is not compared: see tollgate backtest.',
  ];
}

const differenceText = ({ rule, change, jobs, examples }: RuleDifference): string =>
  `  ${rule}: ${shadowCount(jobs)} ${change === 'rejects' ? 'newly rejected' : 'no longer rejected'}, e.g. ${examples.join(', ')}`;
