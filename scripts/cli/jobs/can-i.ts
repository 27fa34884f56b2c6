import { waitText } from '../../../functions/answers/job/decision-lines.ts';
import type { CheckedPipeline, RequestedPipeline } from '../../../functions/answers/job/model.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { amountText, durationText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { resolveContainers } from '../../../relay/translate/variables.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print, readWhole, text, texts, type ValuesOf, whole } from '../../terminal/define.ts';
import { printable, type Screen, wrapped } from '../../terminal/table.ts';
import { type ApiClient, readInProcess } from '../api/answers.ts';
import { type BudgetContext, chooseConsole, withApi } from '../api/open-api.ts';
import { leftSection } from '../check/check-sections.ts';
import { jobAsked } from '../check/live-check.ts';
import { allowedVariables } from '../evaluation/allowed-variables.ts';
import {
  classNamed,
  PLACE_FLAGS,
  placeInLedger,
  readRunFlags,
  readTimeout,
} from '../evaluation/place-flags.ts';
import { ruleTable, violationLine } from '../evaluation/rule-text.ts';
import { LEDGER_FLAGS, type LedgerFlags, refuseTableFlags } from '../ledger-flags.ts';
import type { OpenLedger } from '../open-ledger.ts';
import { runnerVariablesOf } from '../pipeline/variables.ts';
import { readRules } from '../read-rules.ts';
import { RULES_FLAGS, type RulesFlags } from '../rules-flags.ts';

const ID_MAX = 999_999_999_999_999;
const JOB_ID = 1;
const MINUTES_MAX = 527_040;

const FLAGS = {
  ...PLACE_FLAGS,
  image: text('<image>', 'its container image'),
  service: texts('<image>', 'one of its services; may be repeated'),
  class: text('<name>', 'its runner class'),
  tag: texts('<tag>', 'a tag of its runner; may be repeated'),
  minutes: text('<n>', 'its duration (default: from its last runs and the policy)', whole(1, MINUTES_MAX)),
  timeout: text('<duration>', 'its timeout: 1h, 90m', readTimeout),
  job: text('<name>', 'its name'),
  environment: text('<name>', 'its environment'),
  'pull-policy': texts('<policy>', 'a pull policy of its image; may be repeated'),
  variable: texts('<NAME=value>', 'a variable; may be repeated'),
  rerun: text(
    '<job>',
    'in place of all these: this job once more, 4711 or the address of its page; of a ledger or a console (default: $TOLLGATE_CONSOLE)',
  ),
  ledger: text(
    '<local | table>',
    'by what is in force now: next to npm start on this machine, or in a DynamoDB table',
  ),
  ...{ instance: LEDGER_FLAGS.instance, region: LEDGER_FLAGS.region, endpoint: LEDGER_FLAGS.endpoint },
  console: text(
    '<url>',
    'by what is in force at a console; after tollgate login, or in a CI job by its id_token in TOLLGATE_ID_TOKEN, and then for its own project',
  ),
  ...RULES_FLAGS,
};

const canI = command({
  name: 'can-i',
  about: `With --ledger or --console by the limits, grants, freezes, rollout and counters of now; without, by the rules and limits of the
documents alone, as if nothing was used. Facts without a flag are taken as not sent by GitLab.`,
  flags: FLAGS,
  examples: [
    'tollgate can-i --project acme/payments/checkout --image alpine:3.22 --class large --minutes 20',
    'tollgate can-i --rerun 4711 --ledger local',
  ],
  exits: {
    0: 'admitted',
    1: 'the ledger or console does not answer',
    2: 'would be rejected or a rule needs to know more',
    3: 'wrong usage or an invalid document',
  },
  run: async ({ flags }, io) => {
    const nowMs = flags.now ?? io.nowMs();
    let unseen: readonly string[] = [];
    const by = chooseDecider(flags, io);
    const ask = async (api: ApiClient, books?: BudgetContext) => {
      if (books === undefined && flags.now !== undefined)
        throw new UsageError('--now: a console answers about now only');
      if (flags.rerun !== undefined) {
        const word = /\/-\/jobs\/(\d+)/.exec(flags.rerun)?.[1] ?? flags.rerun;
        const json = { rerun: readWhole('rerun', word, 1, ID_MAX) };
        return readInProcess(api.check.$post({ json }));
      }
      const request = madeUp(flags, nowMs, io, books);
      unseen = request.unseen;
      return readInProcess(api.check.$post({ json: request.json }));
    };
    const checked = await withApi(by.flags, { ...io, nowMs: () => nowMs }, ask, by.open);
    const answer = { ...checked, decidedBy: by.name, variablesNotSeen: unseen };
    print(io, flags, answer, (screen) => canIText(answer, by.note, screen));
    return checked.jobs[0]?.outcome === 'admitted' ? EXIT.ok : EXIT.wouldReject;
  },
});

type CanIFlags = ValuesOf<typeof FLAGS>;

interface DecidedBy {
  readonly name: 'rules' | 'ledger' | 'console';
  readonly open?: OpenLedger;
  readonly flags: LedgerFlags & RulesFlags;
  readonly note: string;
}

function chooseDecider(flags: CanIFlags, io: TerminalIo): DecidedBy {
  const { ledger, rerun } = flags;
  const asksConsole = flags.console !== undefined || (rerun !== undefined && ledger === undefined);
  const origin = asksConsole ? chooseConsole(flags, io) : undefined;
  const note = (where: string): string => `By what is in force ${where} now; nothing was held.`;
  if (origin !== undefined) return { name: 'console', flags, note: note(`at ${origin}`) };
  if (ledger !== undefined) return { name: 'ledger', flags, note: note('in the ledger') };
  if (rerun !== undefined)
    throw new UsageError('--rerun: expected --ledger, --console <url> or $TOLLGATE_CONSOLE');
  refuseTableFlags(flags);
  return {
    ...{ name: 'rules', open: noLedger, flags: { ...flags, ledger: 'none' } },
    note: 'Only the rules and limits of the documents were judged, as if nothing was used. Grants, freezes and rollouts that are live were not read: --ledger or --console asks with what is in force now.',
  };
}

const noLedger: OpenLedger = async () => (await import('../open-ledger.ts')).openNothing();

/**
 * The documents here say which tags a class has and which variables rules see. A console finds the place itself, and needs none for
 * a job without either.
 * `unseen`: names of variables that no rule sees. @throws {UsageError} for a value that makes no sense
 */
function madeUp(flags: CanIFlags, nowMs: number, io: TerminalIo, books: BudgetContext | undefined) {
  const { project, group, minutes, image, job, environment, 'pull-policy': pullPolicies } = flags;
  if (project !== undefined && group !== undefined)
    throw new UsageError('--project and --group: expected one; a project names its group');
  const variables = readVariables(flags.variable);
  const isPolicyNeeded = books !== undefined || flags.class !== undefined || flags.variable.length > 0;
  const policy = isPolicyNeeded ? readRules(flags, io).policy : undefined;
  const classTags = policy && flags.class !== undefined ? classNamed(flags.class, policy, nowMs).tags : [];
  const { kept, hidden, dropped } = allowedVariables(
    variables,
    policy?.variables ?? { names: [], prefixes: [], compared: [] },
  );
  const run = readRunFlags(flags);
  const request: AdmissionRequest = {
    ...run,
    jobId: JOB_ID,
    ...withoutAbsent({ jobName: job, environment, image, timeoutSeconds: flags.timeout }),
    ...(pullPolicies.length > 0 && { pullPolicies }),
    services: flags.service.map((name) => ({ name, variables: {} })),
    // A runner of the class has at least its tags; what others it has only GitLab can say.
    jobTags: [...new Set([...classTags, ...flags.tag])],
    variables: kept,
    ...(hidden.length > 0 && { hiddenVariables: hidden }),
  };
  resolveContainers(request, runnerVariablesOf(variables).resolve);
  const { ref, refProtected, pipelineSource, userId } = request;
  const checked = jobAsked({ ...request, jobName: job ?? 'job' });
  const json: RequestedPipeline = {
    ...(books === undefined
      ? withoutAbsent({ project: idOrPath(project), group: idOrPath(group) })
      : placeInLedger(flags, books.directory)),
    ...withoutAbsent({ ref, refProtected, pipelineSource, userId }),
    jobs: [{ ...checked, ...(minutes !== undefined && { estimateSeconds: minutes * 60 }) }],
  };
  return { json, unseen: dropped };
}

const idOrPath = (word: string | undefined): number | string | undefined =>
  word !== undefined && /^\d{1,15}$/.test(word) ? Number(word) : word;

type Answer = CheckedPipeline & { readonly variablesNotSeen: readonly string[] };

function canIText(answer: Answer, note: string, screen: Screen): string {
  const [job] = answer.jobs;
  if (job === undefined) return '';
  const { outcome, costMicros, estimateSeconds, runnerClass, reasons, rules = [], text } = job;
  const word = {
    admitted: screen.good('Yes'),
    rejected: screen.bad('No'),
    'not sure': screen.warn('Not sure'),
  };
  const decision =
    outcome === 'not sure' ? 'a rule needs to know more' : `would be ${outcome}${waitText(job)}`;
  const cost = amountText(costMicros, 'micros', answer.currency, 'up');
  const head = `${word[outcome]}: ${decision}; about ${cost}, ${durationText(estimateSeconds)} on ${printable(runnerClass)}, ${printable(answer.place.path)}.`;
  const line = (each: string): string => `${wrapped(`  ${printable(each)}`, screen.columns, '    ')}\n`;
  const unseen = answer.variablesNotSeen.join(', ');
  return [
    `${wrapped(head, screen.columns, '  ')}\n${screen.dim(wrapped(note, screen.columns, '  '))}\n`,
    reasons.map((each) => line(`${each.rule}: ${violationLine(each)}`)).join(''),
    rules.length === 0 ? '' : ruleTable(rules, screen.columns, screen),
    leftSection(answer, { columns: screen.columns, paint: screen }),
    unseen === '' ? '' : line(`Not seen by any rule, as it does not leave the relay: ${unseen}`),
    text === undefined
      ? ''
      : `${screen.strong('The job page would say')}\n${text.split('\n').map(line).join('')}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Messages do not quote values, because they may be secrets. */
function readVariables(given: readonly string[]): Readonly<Record<string, string>> {
  const entries = given.map((each): readonly [string, string] => {
    const at = each.indexOf('=');
    const name = at === -1 ? each : each.slice(0, at);
    if (at !== -1 && /^[A-Za-z_]\w*$/.test(name)) return [name, each.slice(at + 1)];
    throw new UsageError(
      `--variable ${at === -1 ? '' : 'NAME'}: expected NAME=value, NAME of letters, digits and _`,
    );
  });
  return Object.fromEntries(entries);
}

export const commands = [canI];
