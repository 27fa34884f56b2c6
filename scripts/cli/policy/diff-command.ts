import { execFileSync } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ComparedRules, compareRules } from '../../../functions/answers/backtest/backtest.ts';
import type { BacktestRules } from '../../../functions/answers/backtest/replay-requests.ts';
import { changeRows, NO_LIMITS } from '../../../functions/core/limits/change-rows.ts';
import { type Directory, indexDirectory } from '../../../policies/directory.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { readDurationSeconds } from '../../../policies/document/values.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { CAP_SUBJECTS } from '../../../policies/kubernetes/resource-caps.ts';
import { MODES } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import { priceJumps, pricesAt } from '../../../policies/price.ts';
import { moneyText } from '../../../policies/unit-texts.ts';
import { limitsIn, policyIn, readDirectory } from '../../policy/read-documents.ts';
import { parseYaml, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print, severalWords, text, toggle } from '../../terminal/define.ts';
import { printable, type Screen, screenOf, textLines } from '../../terminal/table.ts';
import { changeRowsText } from '../budget/change-text.ts';
import { type LedgerFlags, rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { progressOf } from '../reconcile/progress.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS, type RulesFiles, rulesFiles } from '../rules-flags.ts';
import { entriesAt, entriesOf, entryOf } from './written-document.ts';

const policyDiff = command({
  name: 'policy diff',
  about: `Takes two limits documents as well. What tightens may reject more jobs; "changes" if the fields do not show it. A price that
becomes many times the one in force is most likely a typing error: exit 2 unless --force is given. With --since both policies
decide the jobs that the ledger recorded, as far as rules decide without counters.`,
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
    const directory = old.limits === undefined ? indexDirectory([]) : readDirectory(files.directory);
    const { report, shown, isRefused } = await compareVersions([old, recent], directory, flags, io);
    print(io, flags, report, () => shown);
    return isRefused || (flags['exit-code'] && report.different) ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [policyDiff];

/** Prints prices that jump, unless --force is given. */
export async function compareVersions(
  [old, recent]: readonly [Version, Version],
  directory: Directory,
  flags: LedgerFlags & { readonly since: string | undefined; readonly force: boolean },
  io: TerminalIo,
) {
  const [from, to] = [old, recent].map(({ policy: document, limits }) => {
    const policy = policyIn(document).model;
    const set = limits === undefined ? NO_LIMITS : limitsIn(limits, policy, directory).model;
    return { policy, limits: set, directory };
  }) as [BacktestRules, BacktestRules];
  const nowMs = io.nowMs();
  const changes = policyChanges(old.policy.value, recent.policy.value);
  const limits = changeRows({ from: from.limits, to: to.limits, directory, nowMs });
  const jumps = jumpsBetween(from.policy, to.policy, recent.policy.value, nowMs);
  const recorded = flags.since === undefined ? undefined : await replay(flags.since, flags, { from, to }, io);
  const different = changes.length + limits.length > 0;
  for (const { rate, runnerClass, fromMicros, toMicros } of flags.force ? [] : jumps)
    io.err(
      `${printable(`${rate} of class ${runnerClass} goes from ${moneyText(fromMicros)} to ${moneyText(toMicros)}`)}: correct it, or say --force\n`,
    );
  const shown = [
    different ? changesText(changes, screenOf(io)) : 'no difference\n',
    limits.length > 0 ? changeRowsText(limits, to.policy.currency, io) : '',
    recorded === undefined ? '' : `\n${recordedText(recorded.recorded, recorded.ledger)}`,
  ].join('');
  const isRefused = jumps.length > 0 && !flags.force;
  return { report: { different, changes, limits, jumps, ...recorded }, shown, isRefused };
}

/** Jumps of the prices in force, unless their new version says `allow_jump: true`. */
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
  if (words.length > 0) throw new UsageError(`${words.join(' ')}: expected no files with --base`);
  return { policy: documentAt(ref, files.policy, io), limits: documentAt(ref, files.limits, io) };
}

type ComparedVersions = Readonly<Record<'from' | 'to', BacktestRules>>;

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

async function replay(since: string, flags: LedgerFlags, rules: ComparedVersions, io: TerminalIo) {
  const span = readSpan(since, undefined, io.nowMs(), rollupZone(io));
  // Only --since needs the modules of the ledger.
  const { openLedger } = await import('../open-ledger.ts');
  const ledger = await standIn(io, openLedger)(flags, io);
  const progress = progressOf('jobs asked again', io);
  try {
    const recorded = await compareRules(ledger.store, { ...span, ...rules, onJob: progress.step });
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
    'Rules that depend on counters are not compared: see tollgate backtest.',
  ];
  return textLines(lines.map((line) => line && printable(line)));
}

const TONES = { tightens: 'good', loosens: 'warn', changes: 'dim' } as const;

function changesText(changes: readonly PolicyChange[], screen: Screen): string {
  const rows = changes.map(({ at, what, effect }) => [
    ...[screen[TONES[effect]](effect), printable(at), printable(what)],
  ]);
  return rows.length === 0 ? '' : `${screen.table([{}, {}, {}], rows)}\n`;
}

type Direction = 'tightens' | 'loosens';
/** Effect on jobs. `changes`: the fields do not show a direction, so a reviewer must look. */
type PolicyEffect = Direction | 'changes';

type PolicyChange = ReturnType<typeof policyChanges>[number];

/** `at`: by name instead of index, `rules.trusted-images.mode`. `what`: `shadow → enforce`, `+ docker:*`, `- docker:*`. */
const policyChanges = (from: unknown, to: unknown) =>
  leaves(byName(from), byName(to)).map((leaf) => ({
    at: leaf.path.join('.'),
    what: leafText(leaf),
    effect: findEffect(leaf, entryOf(from), entryOf(to)),
  }));

/** A value that differs: a scalar, a list as a whole, or an entry that was added or removed. */
interface Leaf {
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/** Rules, prices and classes are lists of named entries: they are compared by name. */
function byName(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && value.every((each) => entryName(each) !== undefined))
    return Object.fromEntries(value.map((each) => [entryName(each), byName(each)]));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, byName(each)]));
}

function entryName(value: unknown): string | undefined {
  const { id, name, version, kind, rate_per_minute: rate, classes } = entryOf(value);
  if (kind !== undefined) return String(id);
  if (rate !== undefined) return String(name);
  return classes === undefined ? undefined : String(version);
}

/** Lists are compared as sets. */
function leaves(from: unknown, to: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    // The first class that matches wins. Numbers as names have an order of their own.
    const [left, right] = [from, to].map((each) =>
      Object.keys(each).filter((key) => key in from && key in to),
    );
    const order = path.at(-1) === 'classes' && !isDeepStrictEqual(left, right);
    return [
      ...(order ? [{ path: [...path, 'order'], from: left?.join(', '), to: right?.join(', ') }] : []),
      ...keys.flatMap((key) => leaves(from[key], to[key], [...path, key])),
    ];
  }
  const isSame = Array.isArray(from) && Array.isArray(to) ? isSameSet(from, to) : isDeepStrictEqual(from, to);
  return isSame ? [] : [{ path, from, to }];
}

const added = (from: unknown, to: unknown): readonly unknown[] =>
  entriesOf(to).filter((each) => !entriesOf(from).some((other) => isDeepStrictEqual(each, other)));

const isSameSet = (one: unknown, other: unknown): boolean =>
  added(one, other).length === 0 && added(other, one).length === 0;

function leafText({ from, to }: Leaf): string {
  const parts = [
    ...added(to, from).map((each) => `- ${valueText(each)}`),
    ...added(from, to).map((each) => `+ ${valueText(each)}`),
  ];
  return parts.length > 0 ? parts.join(', ') : `${valueText(from)} → ${valueText(to)}`;
}

const TEXT_CHARACTERS_MAX = 120;

function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  const text = written(value);
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX - 1)}…` : text;
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isRecord(value)) return String(value);
  const keys = Object.entries(value).map(([key, each]) => `${key}: ${written(each)}`);
  return `{${keys.join(', ')}}`;
}

const OPPOSITE = { tightens: 'loosens', loosens: 'tightens' } as const;

/** Words from the mildest to the strictest; a word that is not listed and an absent one count as the first. */
const RANKED: Readonly<Record<string, readonly unknown[]>> = {
  mode: MODES,
  on_missing: ['skip', 'reject'],
  on_error: ['open', 'closed'],
  tags: [undefined, 'fixed', 'digest'],
  docker_in_docker: [true, false],
  required: [false, true],
  binds_platform: [false, true],
  anchored: [false, true],
  others: ['allow', 'deny'],
  trust_variables: [true, false],
};

/** Effect of more: of a longer list or a higher amount. */
const MORE: Readonly<Record<string, Direction>> = {
  ...{ allow: 'loosens', exempt: 'loosens', max: 'loosens' },
  ...{ deny: 'tightens', require: 'tightens', windows: 'tightens' },
  ...{ runner_classes: 'tightens', executors: 'tightens' },
};

function findEffect({ path, from, to }: Leaf, before: Entry, after: Entry): PolicyEffect {
  const [section, id = '', key = '', ...below] = path;
  if (section === 'platform')
    return id === 'groups' || id === 'projects' ? more(from, to, 'loosens') : 'changes';
  if (section === 'trust_variables') return ranked(section, from ?? false, to ?? false);
  if (section === 'prices')
    return path.at(-1)?.startsWith('rate_') ? amount(from ?? 0, to ?? 0, 'tightens') : 'changes';
  if (section !== 'rules') return 'changes';
  const [earlier, later] = [before, after].map((policy) =>
    entriesAt(policy, 'rules').find((rule) => String(rule.id) === id),
  );
  // A rule that does not reject before and after has no effect on jobs.
  const isEnforced = earlier?.mode === 'enforce' || later?.mode === 'enforce';
  if (key in RANKED && below.length === 0) return ranked(key, from, to);
  if (!isEnforced) return 'changes';
  if (key === '') return from === undefined ? 'tightens' : 'loosens';
  // A rule about more jobs is a tighter one: a condition narrows it, an entry more of the same condition widens it.
  if (key === 'match')
    return more(from, to, below[0] === 'not' || isEmpty(from) || isEmpty(to) ? 'loosens' : 'tightens');
  if (later?.kind === 'resources' && (key === 'min' || CAP_SUBJECTS.some((subject) => subject === key)))
    return amount(from, to, key === 'min' ? 'tightens' : 'loosens');
  const direction = MORE[key];
  if (direction === undefined) return 'changes';
  if (key === 'max')
    return amount(from, to, direction, later?.kind === 'timeout' ? readDurationSeconds : quantity);
  // An empty list of allowed values restricts nothing, except that of runner access: it closes the classes.
  const isNew = later?.kind !== 'runner-access' && (isEmpty(from) || isEmpty(to));
  return more(from, to, key === 'allow' && isNew ? OPPOSITE[direction] : direction);
}

type Entry = ReturnType<typeof entryOf>;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** If entries came and others went, more may be matched or less: patterns are not compared by what they match. */
function more(from: unknown, to: unknown, direction: Direction): PolicyEffect {
  if (isEmpty(from)) return direction;
  if (isEmpty(to)) return OPPOSITE[direction];
  const [came, went] = [added(from, to).length > 0, added(to, from).length > 0];
  if (came === went) return 'changes';
  return came ? direction : OPPOSITE[direction];
}

function ranked(key: string, from: unknown, to: unknown): PolicyEffect {
  const [before = 0, after = 0] = [from, to].map((word) => Math.max(0, RANKED[key]?.indexOf(word) ?? 0));
  if (before === after) return 'changes';
  return after > before ? 'tightens' : 'loosens';
}

type ReadAmount = (text: string) => number | bigint | undefined;

const quantity: ReadAmount = (text) => parseQuantity(text)?.nanos;

function amount(from: unknown, to: unknown, direction: Direction, read: ReadAmount = quantity): PolicyEffect {
  if (from === undefined) return 'tightens';
  if (to === undefined) return 'loosens';
  const [before, after] = [from, to].map((value) => read(String(value)));
  if (before === undefined || after === undefined) return 'changes';
  return after > before ? direction : OPPOSITE[direction];
}
