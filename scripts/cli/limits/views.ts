import { randomBytes } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { changeRows } from '../../../functions/core/limits/change-rows.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import type { ChangeRow } from '../../../functions/core/limits/edit-model.ts';
import type { LimitChange } from '../../../functions/core/limits/limit-set.ts';
import type { LimitPointer, LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { publishLimits, readChange, readLimitSet } from '../../../functions/core/limits/publish-limits.ts';
import type { Directory } from '../../../policies/directory.ts';
import { parseLimits, STORED } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/reading.ts';
import type { Policy } from '../../../policies/policy.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { limitsIn, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import { DocumentError, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print, required, text, toggle, word } from '../../terminal/define.ts';
import { screenOf } from '../../terminal/table.ts';
import { editAnswer } from '../api/api-in-process.ts';
import { ACTOR_FLAG, BUDGET_FLAGS, readActor, readReason } from '../budget/arguments.ts';
import { changeRowsText, printOutcome } from '../budget/change-text.ts';
import { rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openToEdit, withOpened } from '../open-ledger.ts';
import { directoryInForce } from '../read-rules.ts';
import { rulesFiles } from '../rules-flags.ts';
import { baseIn, baseLine, limitsYaml, livePointer, readKept, readLiveSet } from './live-set.ts';
import { NOTHING_LIVE, setShown, setText } from './set-view.ts';

const { policy: POLICY, directory: DIRECTORY } = BUDGET_FLAGS;
const AGAINST_FLAGS = { policy: POLICY, directory: DIRECTORY };

const limitsShow = command({
  name: 'limits show',
  flags: {
    document: toggle(
      'prints the limits as YAML, to edit and publish. The first line names their set, and limits publish refuses them after another set is live',
    ),
    set: text(
      '<set>',
      'an earlier set, with --document or --json; tollgate budget history names them. Publish its document to undo all later edits',
    ),
    ...TABLE_FLAGS,
  },
  examples: ['tollgate limits show --document > limits.yaml'],
  exits: {
    1: 'the table does not answer, --document before a set was published, or --set of a deleted set',
  },
  run: async ({ flags }, io) => {
    const { document, json, set } = flags;
    if (document && json)
      throw new UsageError('--document: leave it away, --json shows the document as well');
    if (set !== undefined) {
      if (!document && !json) throw new UsageError('--set: needs --document or --json');
      const stored = await withOpened(openToEdit, flags, io, ({ limits }) => readKept(set, limits));
      const { atMs, ...change } = stored.change;
      const { document: shown } = stored;
      const value = { kept: { set, at: new Date(atMs).toISOString(), ...change, document: shown } };
      const head = `# Set ${set} of ${instantText(atMs, rollupZone(io))}. Publish it to undo all later edits\n`;
      return print(io, flags, value, () => head + limitsYaml(shown));
    }
    const live = await withOpened(openToEdit, flags, io, ({ limits }) => readLiveSet(limits));
    if (live === undefined) {
      if (document) throw new Error(NOTHING_LIVE);
      return print(io, flags, { live: null }, () => `${NOTHING_LIVE}\n`);
    }
    const { pointer, change } = live;
    const shown = setShown(pointer, change);
    return print(io, flags, { live: { ...shown, document: live.document } }, (screen) =>
      document
        ? `${baseLine(pointer.set, pointer.edit)}${limitsYaml(live.document)}`
        : setText(shown, rollupZone(io), screen),
    );
  },
});

const limitsCheck = command({
  name: 'limits check',
  about: `It finds a runner class that no longer exists, too many counters for one job, and limits that would reject the jobs that deploy.`,
  flags: { ...AGAINST_FLAGS, ...TABLE_FLAGS },
  examples: ['tollgate limits check --ledger tollgate-ledger'],
  exits: { 0: 'they fit, or no set was published', 3: 'they do not fit, or wrong usage' },
  run: async ({ flags }, io) => {
    const files = rulesFiles(flags, io);
    const policy = readPolicy(files.policy);
    const { live, directory } = await withOpened(openToEdit, flags, io, async (opened) => ({
      live: await readLiveSet(opened.limits),
      directory: await directoryInForce(flags, opened.directory, io),
    }));
    if (live === undefined) return print(io, flags, { live: null }, () => `${NOTHING_LIVE}\n`);
    const { set } = live.pointer;
    const parsed = parseLimits(live.document, set, policy, directory, STORED);
    const problems = parsed.ok
      ? selfLockout(policy, parsed.value, directory, io.nowMs())
      : parsed.problems.map(problemText);
    if (problems.length > 0) throw new DocumentError(problems.map((each) => `set ${set}: ${each}`));
    const shown = setShown(live.pointer, live.change);
    return print(io, flags, { live: shown }, (screen) => {
      return `${setText(shown, rollupZone(io), screen)}${screen.good('fits')} ${files.policy}\n`;
    });
  },
});

const NONE = 'none';

const limitsPublish = command({
  name: 'limits publish',
  about: `It is in force everywhere within five seconds. An edit of a set that is not live any more changes nothing. If a limit grows by
more than half, another person has to approve it: tollgate budget approve <id>.`,
  words: { file: word('<limits.yaml>', 'as tollgate limits show --document prints it') },
  flags: {
    why: required(text('<text>', 'the reason, for the change log', (given) => readReason(given, 'why'))),
    actor: ACTOR_FLAG,
    base: text(
      '<set>',
      `the set this is an edit of; refused if another is live; ${NONE} for the first (default: the set in the first line of the document, else the live one: then it replaces what others changed since you wrote it)`,
    ),
    'dry-run': toggle('shows what would change and writes nothing'),
    force: toggle('publishes although it would reject the jobs that deploy'),
    ...AGAINST_FLAGS,
    ...TABLE_FLAGS,
  },
  examples: ['tollgate limits publish policies/limits.yaml --why "first set" --base none'],
  exits: {
    0: 'live',
    1: 'the table does not answer (see tollgate limits show)',
    2: 'another edit was first, or it needs approval',
    3: 'invalid',
  },
  run: async ({ flags, words }, io) => {
    const { why, json } = flags;
    const actor = readActor(flags, io);
    const policy = readPolicy(rulesFiles(flags, io).policy);
    const file = resolve(io.cwd, words.file);
    const yaml = readYaml(file);
    return withOpened(openToEdit, flags, io, async ({ limits: table, directory: groups, description }) => {
      const directory = await directoryInForce(flags, groups, io);
      const limits = limitsIn(yaml, policy, directory).model;
      const lockout = flags.force ? [] : selfLockout(policy, limits, directory, io.nowMs());
      if (lockout.length > 0)
        throw new DocumentError(lockout.map((each) => `${file}: ${each}; mend it, or say --force`));
      const live = await livePointer(table);
      const named = flags.base ?? baseIn(yaml.text) ?? live?.set;
      const base = named === NONE ? undefined : named;
      if (live?.set !== base) return printStale(base, live, table, json, io);
      const before =
        live &&
        parseLimits((await readLimitSet(live.set, table)).document, live.set, policy, undefined, STORED);
      // Undefined: no set is live, or this policy cannot read it.
      const changes = before?.ok
        ? changeRows({ from: before.value, to: limits, directory, nowMs: io.nowMs() })
        : undefined;
      if (flags['dry-run'])
        return print(io, flags, { outcome: 'dry_run', base: base ?? null, changes }, () => {
          return `${changesText(changes, policy, io)}Nothing was written.\n`;
        });
      const change = {
        ...{ actor, why, source: `file ${basename(file)}`, atMs: io.nowMs() },
        ...(base !== undefined && { base }),
      };
      // A first set has no larger predecessor to compare with.
      const requested = live && (await requestApproval(yaml.value, change, table, policy, directory, io));
      if (requested !== undefined)
        return printOutcome(editAnswer(requested), base, { currency: policy.currency, json, io });
      const outcome = await publishLimits(yaml.value, change, { table, policy, directory });
      if (outcome.outcome === 'invalid') throw new DocumentError(outcome.problems.map(yaml.locate));
      if (outcome.outcome === 'stale') return printStale(base, outcome.live, table, json, io);
      const shown = setShown(outcome.pointer, change);
      return print(io, flags, { outcome: 'live', ...shown, changes }, (screen) => {
        const text = `${screen.good('live')} in ${description}\n${setText(shown, rollupZone(io), screen)}`;
        return `${changesText(changes, policy, io)}${text}`;
      });
    });
  },
});

/** Files the document for approval. Undefined: one person alone may publish it, and nothing was written. @throws {LimitsError} */
async function requestApproval(
  document: unknown,
  by: Omit<LimitChange, 'atMs'>,
  table: LimitTable,
  policy: Policy,
  directory: Directory,
  io: TerminalIo,
) {
  const limitEdits = createLimitEdits({
    ...{ table, policy, directory: async () => directory },
    ledger: { readCounters: async () => [] },
    clock: { ...systemClock, nowMs: io.nowMs },
    newId: () => randomBytes(5).toString('hex'),
  });
  const edits = [{ kind: 'replace' as const, document }];
  const preview = await limitEdits.preview(edits, by.base);
  if (preview.outcome !== 'valid' || preview.stale || preview.needsApproval.length === 0) return undefined;
  return limitEdits.apply(edits, { base: undefined, ...by, confirmed: true, rights: [{ role: 'admin' }] });
}

function changesText(
  rows: readonly ChangeRow[] | undefined,
  { currency }: Policy,
  io: Pick<TerminalIo, 'columns' | 'colours'>,
): string {
  if (rows === undefined) return 'No set is live that these could be compared with.\n';
  if (rows.length === 0) return 'No limit differs from the live set.\n';
  return changeRowsText(rows, currency, io);
}

async function printStale(
  base: string | undefined,
  live: LimitPointer | undefined,
  table: LimitTable,
  json: boolean,
  io: TerminalIo,
): Promise<ExitCode> {
  const change = live && (await readChange(live.set, table));
  const shown = live && change && setShown(live, change);
  const mine = base === undefined ? 'a first set' : `an edit of set ${base}`;
  if (json) io.out(`${JSON.stringify({ outcome: 'stale', base: base ?? null, live: shown ?? null })}\n`);
  else if (live === undefined || shown === undefined)
    io.err(`Nothing was published: this is ${mine}, and no set was ever live. Say --base ${NONE}.\n`);
  else
    io.err(`Nothing was published: this is ${mine}, and another one is live.
${setText(shown, rollupZone(io), screenOf(io))}See it with tollgate limits show --document, put both together, and publish that with --base ${live.set}.
`);
  return EXIT.wouldReject;
}

export const commands = [limitsShow, limitsCheck, limitsPublish];
