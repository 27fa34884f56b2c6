import { instantText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { rollupZone } from '../rollup-zone.ts';
import { baseLine } from './base-line.ts';
import { limitsYaml } from './limits-yaml.ts';
import { type KeptSet, type LiveSet, readKept, readLiveSet, setShown } from './live-set.ts';
import { type OpenLimits, openLimits, withOpenLimits } from './open-limits.ts';
import { NOTHING_LIVE, setText } from './set-text.ts';

const HELP = `tollgate limits show [flags]

Which limits are live: the set, how many there were so far, since when, by whom, from where and why.

  --document           the limits themselves, as YAML: edit them and publish them. The first line says of which set
                       they are, and limits publish refuses them once another one is live
  --set <set>          a set that was live before, with --document or --json; "limits sets" lists them. Publish its
                       document, and what was done since is undone
${LEDGER_FLAGS_HELP}
  --json               one JSON object, with the document

Exit codes: 0 told, 1 the table does not answer, --document where no set was ever published, or a --set
that is not kept, 3 wrong usage`;

export const limitsShowCommandOn = (open: OpenLimits): Command => ({
  name: 'limits show',
  summary: 'Which limits are live? Who made them so, when and why; or the document itself',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { document: 'switch', set: 'text', ...LEDGER_FLAGS });
    if (values.document && values.json)
      throw new UsageError('--document: has no place beside --json, which shows the document anyhow');
    const { set } = values;
    if (set !== undefined) {
      if (!values.document && !values.json) throw new UsageError('--set: needs --document or --json');
      const kept = await withOpenLimits(open, values, io, ({ table }) => readKept(set, table));
      return values.json ? tellKeptJson(kept, io) : tellKept(kept, io);
    }
    const live = await withOpenLimits(open, values, io, ({ table }) => readLiveSet(table));
    if (values.json) return tellJson(live, io);
    return values.document ? tellDocument(live, io) : tell(live, io);
  },
});

export const limitsShowCommand: Command = limitsShowCommandOn(openLimits);

function tellJson(live: LiveSet | undefined, io: TerminalIo): ExitCode {
  const shown = live && { ...setShown(live.pointer, live.change), document: live.document };
  io.out(`${JSON.stringify({ live: shown ?? null })}\n`);
  return EXIT.ok;
}

function tellDocument(live: LiveSet | undefined, io: TerminalIo): ExitCode {
  if (live === undefined) throw new Error(NOTHING_LIVE);
  const { set, edit } = live.pointer;
  io.out(`${baseLine(set, edit)}${limitsYaml(live.document)}`);
  return EXIT.ok;
}

function tellKept({ set, change, document }: KeptSet, io: TerminalIo): ExitCode {
  const since = `of ${instantText(change.atMs, rollupZone(io))}`;
  io.out(`# Set ${set} ${since}. Publish it, and what was done since is undone\n${limitsYaml(document)}`);
  return EXIT.ok;
}

function tellKeptJson({ set, change, document }: KeptSet, io: TerminalIo): ExitCode {
  const { atMs, ...told } = change;
  io.out(`${JSON.stringify({ kept: { set, at: new Date(atMs).toISOString(), ...told, document } })}\n`);
  return EXIT.ok;
}

function tell(live: LiveSet | undefined, io: TerminalIo): ExitCode {
  if (live === undefined) io.out(`${NOTHING_LIVE}\n`);
  else io.out(setText(setShown(live.pointer, live.change), rollupZone(io), paintWhen(io.colours)));
  return EXIT.ok;
}
