import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { DocumentError, readPolicy } from '../../policy/read-documents.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { text, toggle } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openToEdit, withOpened } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { directoryInForce, rulesFiles } from '../rules-flags.ts';
import { baseLine, limitsYaml, NOTHING_LIVE, readKept, readLiveSet, setShown, setText } from './live-set.ts';

export const AGAINST_FLAGS = {
  policy: text('<file>', 'the policy they are used with (default: policies/policy.yaml of this project)'),
  directory: text(
    '<file>',
    'groups and projects (default: as synced from GitLab, else policies/directory.yaml)',
  ),
};

const limitsShow = command({
  name: 'limits show',
  about:
    'Shows which limits are live: the set, how many there were before, since when, by whom, from where and why.',
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
  json: 'one JSON object, with the document',
  examples: [
    'tollgate limits show --ledger tollgate-ledger',
    'tollgate limits show --document > limits.yaml',
  ],
  exits: {
    0: 'shown',
    1: 'the table does not answer, --document before a set was published, or --set of a deleted set',
  },
  run: async ({ flags }, io) => {
    const { document, json, set } = flags;
    if (document && json)
      throw new UsageError('--document: leave it away, --json shows the document as well');
    if (set !== undefined) {
      if (!document && !json) throw new UsageError('--set: needs --document or --json');
      const kept = await withOpened(openToEdit, flags, io, ({ limits }) => readKept(set, limits));
      const { atMs, ...change } = kept.change;
      return print(
        io,
        flags,
        { kept: { set, at: new Date(atMs).toISOString(), ...change, document: kept.document } },
        () =>
          `# Set ${set} of ${instantText(atMs, rollupZone(io))}. Publish it to undo all later edits\n${limitsYaml(kept.document)}`,
      );
    }
    const live = await withOpened(openToEdit, flags, io, ({ limits }) => readLiveSet(limits));
    if (live === undefined) {
      if (document) throw new Error(NOTHING_LIVE);
      return print(io, flags, { live: null }, () => `${NOTHING_LIVE}\n`);
    }
    const { pointer, change } = live;
    const shown = setShown(pointer, change);
    return print(io, flags, { live: { ...shown, document: live.document } }, () =>
      document
        ? `${baseLine(pointer.set, pointer.edit)}${limitsYaml(live.document)}`
        : setText(shown, rollupZone(io), paintWhen(io.colours)),
    );
  },
});

const limitsCheck = command({
  name: 'limits check',
  about: `Checks the live limits against the policy here and the groups of GitLab: a runner class that no longer exists, too many
counters for one job, or limits that would reject the jobs that deploy. Run it before npm run deploy.`,
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
    const parsed = parseLimits(live.document, set, policy, directory);
    const problems = parsed.ok
      ? selfLockout(policy, parsed.value, directory, io.nowMs())
      : parsed.problems.map(problemText);
    if (problems.length > 0) throw new DocumentError(problems.map((each) => `set ${set}: ${each}`));
    const shown = setShown(live.pointer, live.change);
    const paint = paintWhen(io.colours);
    return print(
      io,
      flags,
      { live: shown },
      () => `${setText(shown, rollupZone(io), paint)}${paint.good('fits')} ${files.policy}\n`,
    );
  },
});

export const commands = [limitsShow, limitsCheck];
