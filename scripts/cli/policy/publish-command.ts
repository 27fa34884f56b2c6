import { hashRules, type RulesFile, shortHash } from '../../../functions/core/published-rules.ts';
import { readRulesFile } from '../../../functions/core/rules.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { packRules } from '../../build/pack-rules.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { DocumentError, EXIT, UsageError } from '../../terminal/command.ts';
import { command, print, required, text, toggle } from '../../terminal/define.ts';
import { printable } from '../../terminal/table.ts';
import { ACTOR_FLAG, readActor } from '../budget/arguments.ts';
import { rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openToEdit, withOpened } from '../open-ledger.ts';
import { directoryInForce, liveLimits } from '../read-rules.ts';
import { RULES_FLAGS, rulesFiles } from '../rules-flags.ts';
import { compareVersions } from './diff-command.ts';

const policyPublish = command({
  name: 'policy publish',
  about: `Makes policy, limits and directory the rules of functions and relays, which load them within seconds. The hash of their content
names the version. The live limits stay. Needs the rights of the managed policy PolicyPublisher; --dry-run also
reads recorded jobs.`,
  flags: {
    'dry-run': toggle('shows what would change, also for the jobs of the last week, and writes nothing'),
    list: toggle('lists the published versions'),
    version: text('<hash>', 'publishes an earlier version again, instead of the files'),
    actor: ACTOR_FLAG,
    force: toggle('publishes although it would reject the jobs of the platform team, or a price jumps'),
    ...RULES_FLAGS,
    ...TABLE_FLAGS,
    ledger: required(text('<table>', "the ledger's DynamoDB table; npm start reads the files at its start")),
  },
  examples: [
    'tollgate policy publish --dry-run --ledger tollgate-ledger',
    'tollgate policy publish --version 3f2a91c04d17 --ledger tollgate-ledger',
  ],
  exits: {
    2: 'nothing changed: another publisher was first, or a price jumps',
    3: 'wrong usage, invalid, or a policy that would lock out its own platform team',
  },
  run: async ({ flags }, io) => {
    if (flags.ledger === 'local') throw new UsageError('--ledger local: expected a DynamoDB table');
    const [file] = ['policy', 'limits', 'directory'].filter(
      (name) => name in flags && flags[name as 'policy'] !== undefined,
    );
    if (flags.version !== undefined && file !== undefined)
      throw new UsageError(`--version and --${file}: a version has all documents; give one of both`);
    return withOpened(openToEdit, flags, io, async ({ rules: table, description, ...ledger }) => {
      const nowMs = io.nowMs();
      const [current, versions] = await Promise.all([table.pointer(), table.list()]);
      const at = (atMs: number): string => instantText(atMs, rollupZone(io));
      if (flags.list)
        return print(io, flags, { current: current ?? null, versions }, (screen) => {
          const rows = versions.map(({ hash, author, atMs }) => [
            ...[shortHash(hash), printable(author), at(atMs), hash === current?.hash ? 'current' : ''],
          ]);
          return rows.length === 0
            ? `Nothing has been published in ${description}: the rules of the last deployment are in force.\n`
            : `${screen.table(['rules', 'published by', 'at', ''], rows)}\n`;
        });

      const named = versions.filter(
        ({ hash }) => flags.version !== undefined && hash.startsWith(flags.version),
      );
      if (flags.version !== undefined && named.length !== 1)
        throw new UsageError(`--version "${flags.version}": expected one of tollgate policy publish --list`);
      const packed = () => packRules({ files: rulesFiles(flags, io), force: true, nowMs });
      const rules = named[0] === undefined ? packed() : await table.read(named[0].hash);
      const name = `rules ${shortHash(hashRules(rules))}`;
      const { policy, limits } = readRulesFile(name, rules);
      const directory = await directoryInForce(flags, ledger.directory, io);
      const live = await liveLimits(policy, directory, ledger.limits);
      const lockout = flags.force ? [] : selfLockout(policy, live ?? limits, directory, nowMs);
      if (lockout.length > 0)
        throw new DocumentError(lockout.map((each) => `${each}; mend it, or say --force`));

      // A current version that is damaged can only be replaced.
      const before = current && (await table.read(current.hash).catch(() => undefined));
      const since = flags['dry-run'] && before ? '7d' : undefined;
      const written = ({ policy: { document } }: RulesFile) => parseYaml(JSON.stringify(document), name);
      const pair = [{ policy: written(before ?? rules) }, { policy: written(rules) }] as const;
      const compared = await compareVersions(pair, directory, { ...flags, since }, io);
      const shown =
        before === undefined
          ? 'Nothing was published before, so there is nothing to compare with.\n'
          : compared.shown;
      const outcome = compared.isRefused
        ? 'would not become current without --force'
        : 'would become current';
      const preview = `${shown}${name} ${outcome}. Nothing was written.\n`;
      if (flags['dry-run']) print(io, flags, compared.report, () => preview);
      if (compared.isRefused || flags['dry-run']) return compared.isRefused ? EXIT.wouldReject : EXIT.ok;

      const hash = hashRules(rules);
      if (await table.publish(rules, { author: readActor(flags, io), atMs: nowMs }, current))
        return print(io, flags, { hash }, ({ good }) => `${good('current')} ${name} in ${description}\n`);
      const { author, ...other } = (await table.pointer()) ?? { author: '', hash, atMs: nowMs };
      const what = `${printable(author)} published rules ${shortHash(other.hash)} at ${at(other.atMs)}`;
      io.err(`nothing changed: ${what} meanwhile; look at them (--dry-run) and publish again\n`);
      return EXIT.wouldReject;
    });
  },
});

export const commands = [policyPublish];
