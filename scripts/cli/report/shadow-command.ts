import { type ShadowReport, shadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import { PLAYED_GITLAB } from '../../local/whose-jobs.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type LedgerAccess, type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { openRulesInForce } from '../rules-in-force.ts';
import { deliver, readFormat, terminalOf } from '../statement/deliver.ts';
import { progressOf, watched } from '../truth/progress.ts';
import { groupFilter } from './group-filter.ts';
import { shadowCsv } from './shadow-csv.ts';
import { shadowHtml } from './shadow-html.ts';
import { shadowTerminal } from './shadow-terminal.ts';
import { readSpan, SPAN_HELP } from './span.ts';

const HELP = `tollgate report shadow [flags]

What would have been rejected?

If armed now: which jobs an enabled controller would have failed. The recorded jobs are asked again of the rules and limits
that are enforced now, on counters that leave out whoever is refused. What was rejected and ran all the same is told beside
it: while the controller is in dry_run, GitLab follows no answer.

By what only watches (mode shadow or warn): the same replay, for jobs that pass all that is enforced. Refused jobs use up no
limit here, either.

Limits and groups are those that are live beside the ledger, unless a file is named or nothing is live.

  --since <time>       14d, 36h, 2w ago, a day (2026-11-01) or an instant   (default: 14d)
  --until <time>       the same                                             (default: now)
                       ${SPAN_HELP}
  --group <id | path>  only jobs of this group and below
  --format <format>    terminal, csv or html                                (default: terminal)
  --out <file>         writes the report there
  --gitlab-url <url>   for links to jobs                                    (default: https://<instance>)
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               the report as one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage or invalid documents`;

const FORMATS = ['terminal', 'csv', 'html'] as const;
type Format = (typeof FORMATS)[number] | 'json';

/** @param open - tests open a ledger of their own. */
export const shadowReportCommandOn = (open: OpenLedger): Command => ({
  name: 'report shadow',
  summary: 'What would have been rejected so far? By an enabled controller, and by what only watches',
  help: HELP,
  run: (args, io) => reportShadow(args, io, open),
});

export const shadowReportCommand: Command = shadowReportCommandOn(openLedger);

const FLAGS = {
  since: 'text',
  until: 'text',
  group: 'text',
  format: 'text',
  out: 'text',
  'gitlab-url': 'text',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

async function reportShadow(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const format = readFormat(values, FORMATS);
  const span = readSpan(values.since ?? '14d', values.until, io.nowMs(), rollupZone(io));
  const givenUrl = readGitlabUrl(values['gitlab-url']);
  const ledger = await open(values, io);
  const report = await reportOn(ledger).finally(ledger.close);
  deliver(rendered(report, format, values.out, io), values.out, io);
  return EXIT.ok;

  async function reportOn(books: LedgerAccess): Promise<ShadowReport> {
    const rules = await openRulesInForce(values, books, io);
    const group = values.group === undefined ? undefined : groupFilter(values.group, rules.directory);
    const told = await shadowReport(watched(books.store, progressOf('items read', io)), {
      ...{ span, rules, ledger: books.description, gitlabUrl: givenUrl ?? urlOf(books) },
      ...(group !== undefined && { group }),
    });
    group?.check();
    return told;
  }
}

function rendered(report: ShadowReport, format: Format, out: string | undefined, io: TerminalIo): string {
  switch (format) {
    case 'terminal':
      return shadowTerminal(report, ...terminalOf(out, io));
    case 'csv':
      return shadowCsv(report);
    case 'html':
      return shadowHtml(report);
    case 'json':
      return `${JSON.stringify(report)}\n`;
  }
}

function readGitlabUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new UsageError(`--gitlab-url "${text}": expected e.g. https://gitlab.example.com`);
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** The GitLab that `npm start` plays has no pages. */
const urlOf = ({ instance, gitlabUrl }: LedgerAccess): string | undefined =>
  instance === PLAYED_GITLAB ? undefined : (gitlabUrl ?? `https://${instance}`);
