import { execFileSync } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { type ComparedRules, compareRules } from '../../../functions/answers/backtest/backtest.ts';
import type { BacktestRules } from '../../../functions/answers/backtest/question.ts';
import { changeRows, NO_LIMITS } from '../../../functions/core/limits/change-rows.ts';
import { directoryOf } from '../../../policies/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { priceJumps, pricesAt } from '../../../policies/price.ts';
import { moneyText } from '../../../policies/unit-texts.ts';
import { limitsIn, policyIn, readDirectory } from '../../policy/read-documents.ts';
import { parseYaml, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { severalWords, text, toggle } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { changeRowsText } from '../budget/change-text.ts';
import { type LedgerFlags, TABLE_FLAGS } from '../ledger-flags.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, type RulesFiles, rulesFiles } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { type PolicyChange, policyChanges } from './policy-changes.ts';
import { entriesAt, entryOf } from './written-document.ts';

const policyDiff = command({
  name: 'policy diff',
  about: `Compares two policies or two limits documents entry by entry, and shows of each change whether it tightens (more jobs may be
rejected) or loosens; "changes" if the fields do not show it. A price that becomes many times the one in force is most likely a typing
error: exit 2 unless --force is given. With --since both policies decide the jobs that the ledger recorded, as far as rules decide
without counters.`,
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
  run: async ({ flags, words: { files: words } }, io) => {
    const files = rulesFiles(flags, io);
    const [old, recent] =
      flags.base === undefined
        ? namedVersions(words, flags.since !== undefined, files, io)
        : [
            versionAt(flags.base, words, files, io),
            { policy: readYaml(files.policy), limits: readYaml(files.limits) },
          ];
    const directory = old.limits === undefined ? directoryOf([]) : readDirectory(files.directory);
    const [from, to] = [old, recent].map(({ policy: document, limits }) => {
      const policy = policyIn(document).model;
      const set = limits === undefined ? NO_LIMITS : limitsIn(limits, policy, directory).model;
      return { policy, limits: set, directory };
    }) as [BacktestRules, BacktestRules];
    const nowMs = io.nowMs();
    const changes = policyChanges(old.policy.value, recent.policy.value);
    const limits = changeRows({ from: from.limits, to: to.limits, directory, nowMs });
    const jumps = jumpsBetween(from.policy, to.policy, recent.policy.value, nowMs);
    const recorded = flags.since === undefined ? undefined : await replay(flags.since, flags, from, to, io);
    const different = changes.length + limits.length > 0;
    if (flags.json) io.out(`${JSON.stringify({ different, changes, limits, jumps, ...recorded })}\n`);
    else {
      io.out(different ? changesText(changes, io) : 'no difference\n');
      if (limits.length > 0) io.out(changeRowsText(limits, to.policy.currency, io));
      if (recorded !== undefined) io.out(`\n${recordedText(recorded.recorded, recorded.ledger)}\n`);
      for (const { rate, runnerClass, fromMicros, toMicros } of flags.force ? [] : jumps)
        io.err(
          `${printable(`${rate} of class ${runnerClass} goes from ${moneyText(fromMicros)} to ${moneyText(toMicros)}`)}: correct it, or say --force\n`,
        );
    }
    const isRefused = jumps.length > 0 && !flags.force;
    return isRefused || (flags['exit-code'] && different) ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [policyDiff];

/** Jumps of the prices in force, unless the new version of them says `allow_jump: true`. */
function jumpsBetween(from: Policy, to: Policy, written: unknown, nowMs: number) {
  const inForce = pricesAt(to.prices, nowMs);
  const isMeant = entriesAt(written, 'prices').some(
    ({ version, allow_jump: allowed }) => String(version) === inForce.version && allowed === true,
  );
  return isMeant ? [] : priceJumps(pricesAt(from.prices, nowMs), inForce);
}

/** Documents as they were at one time; without limits only policies are compared. */
interface Version {
  readonly policy: YamlDocument;
  readonly limits?: YamlDocument;
}

function namedVersions(
  words: readonly string[],
  needsLimits: boolean,
  files: RulesFiles,
  io: TerminalIo,
): readonly [Version, Version] {
  const [old, recent] = words.map((word) => readYaml(resolve(io.cwd, word)));
  if (old === undefined || recent === undefined)
    throw new UsageError('expected two files, <old.yaml> <new.yaml>, or --base <commit, branch or tag>');
  const areLimits = [old, recent].every(({ value }) => entryOf(value).limits !== undefined);
  const policy = areLimits ? readYaml(files.policy) : undefined;
  const limits = needsLimits ? { limits: readYaml(files.limits) } : {};
  const version = (own: YamlDocument): Version =>
    policy === undefined ? { policy: own, ...limits } : { policy, limits: own };
  return [version(old), version(recent)];
}

function versionAt(ref: string, words: readonly string[], files: RulesFiles, io: TerminalIo): Version {
  if (words.length > 0) throw new UsageError(`${words.join(' ')}: expected no files beside --base`);
  return { policy: documentAt(ref, files.policy, io), limits: documentAt(ref, files.limits, io) };
}

const TIMEOUT_MS = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;

function documentAt(ref: string, file: string, { root }: Pick<TerminalIo, 'root'>): YamlDocument {
  // Anything else could be an option of git's, or a second path.
  if (!/^[\w][\w./@{}^~+-]*$/.test(ref))
    throw new UsageError(`--base "${ref}": expected a commit, branch or tag`);
  const path = relative(root, file);
  try {
    const content = execFileSync('git', ['show', `${ref}:./${path}`], {
      cwd: root,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      maxBuffer: BYTES_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return parseYaml(content, `${ref}:${path}`);
  } catch (error) {
    const cause = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    if (cause === '') throw error;
    throw new UsageError(`--base "${ref}": git cannot show ${path} there (${cause.split('\n')[0]})`);
  }
}

async function replay(
  since: string,
  flags: LedgerFlags,
  from: BacktestRules,
  to: BacktestRules,
  io: TerminalIo,
) {
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

function recordedText(
  { jobs, unrecorded, variablesLost, newlyRejected, newlyAdmitted, byRule }: ComparedRules,
  ledger: string,
): string {
  const lines = [
    `${shadowCount(jobs)} recorded jobs (${ledger}) asked again: ${shadowCount(newlyRejected)} would newly be rejected by a rule, ${shadowCount(newlyAdmitted)} no longer.`,
    ...byRule.map(({ rule, change, jobs: count, examples }) => {
      const what = change === 'rejects' ? 'newly rejected' : 'no longer rejected';
      return `  ${rule}: ${shadowCount(count)} ${what}, e.g. ${examples.join(', ')}`;
    }),
    unrecorded > 0 &&
      `${shadowCount(unrecorded)} more could not be asked: their records do not have what rules look at.`,
    variablesLost > 0 &&
      `${shadowCount(variablesLost)} had variables, which are never kept: rules that read them say what they said then.`,
    'What depends on counters is not compared: see tollgate backtest.',
  ];
  return lines.flatMap((line) => (line === false ? [] : printable(line))).join('\n');
}

const TONES = { tightens: 'good', loosens: 'warn', changes: 'dim' } as const;

function changesText(
  changes: readonly PolicyChange[],
  { columns, colours }: Pick<TerminalIo, 'columns' | 'colours'>,
): string {
  const paint = paintWhen(colours);
  const rows = changes.map(({ at, what, effect }) => [
    ...[paint[TONES[effect]](effect), printable(at), printable(what)],
  ]);
  return rows.length === 0 ? '' : `${table([{}, {}, {}], rows, columns)}\n`;
}
