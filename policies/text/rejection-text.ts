import type { Terms } from '../decision.ts';
import type { Placement } from '../placement.ts';
import type { RequeueSettings } from '../policy.ts';
import type { Reason, Violation } from '../reason.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { unitRow } from '../unit.ts';
import { durationText, moneyText } from '../unit-texts.ts';
import { oneLine, plain, shortened } from './plain-text.ts';
import type { DiscloseSettings, Disclosure } from './reason-text.ts';
import {
  bindingFirst,
  discreetHeadline,
  discreetReasonLine,
  headline,
  reasonLine,
  retryAdvice,
  textsFor,
} from './reason-texts.ts';

export function disclosureFor(placement: Placement, settings: DiscloseSettings): Disclosure {
  if (placement.visibility === 'public') return 'none';
  for (let at = placement.ancestors.length - 1; at >= 0; at -= 1) {
    const group = placement.ancestors[at];
    const disclosure = group && settings.byGroup.get(group.id);
    if (disclosure !== undefined) return disclosure;
  }
  return settings.default;
}

/** GitLab stores 10 000 characters and puts text of its own before ours; people read far less. */
export const REJECTION_CHARACTERS_MAX = 2_000;
const LINE_CHARACTERS_MAX = 400;
const JOB_NAME_CHARACTERS_MAX = 80;
const URL_CHARACTERS_MAX = 300;
/** Amounts say so where there are no terms, e.g. in the relay's fallback, and the currency is not known. */
const NO_CURRENCY = 'units';

export interface RejectionTextInput {
  readonly request: Pick<AdmissionRequest, 'jobId' | 'jobName'>;
  readonly violations: readonly [Violation, ...Violation[]];
  readonly terms?: Terms | undefined;
  readonly decisionId: string;
  readonly nowMs: number;
  readonly disclosure: Disclosure;
  readonly detailsUrl?: string | undefined;
  readonly waitedMs?: number;
  readonly retried?: RequeueSettings | undefined;
  readonly footer?: string | undefined;
}

/**
 * The message for the job page: plain text, the first line complete on its own, then code, numbers, advice, owner, the
 * other reasons, where the console explains it, and the decision id. Too much is left out line by line from the end, never the
 * first line or the last ones.
 */
export function rejectionText(input: RejectionTextInput): string {
  const { request, disclosure, terms, nowMs, waitedMs = 0, retried } = input;
  const currency = terms?.currency ?? NO_CURRENCY;
  const { binding, others } = bindingFirst(input.violations);
  const { reason } = binding;
  const first = disclosure === 'none' ? discreetHeadline(reason) : headline(reason, { currency, nowMs });
  const lines = [
    '',
    `[${reason.code}] job ${jobLabel(request)} was not started.${textsFor(reason).faultless ? ' Nothing is wrong with your code.' : ''}`,
    ...(terms !== undefined && disclosure !== 'none' && isEstimated(reason)
      ? [`  This job: ${jobTerms(terms)}`]
      : []),
    ...(disclosure === 'none' ? [] : [`  ${reasonLine(reason, currency)}`]),
    ...(waitedMs < 1_000 ? [] : [`  It waited ${Math.floor(waitedMs / 1_000)} s, and no slot became free.`]),
    // GitLab retries a job once: whose group has it done is not advised to do it, too.
    ...(retried === undefined ? retryAdvice(reason, disclosure, nowMs) : [retriedText(retried)]),
    ...ownerLines(disclosure === 'all' ? input.violations : [binding], disclosure),
    ...(input.footer ?? '')
      .split(/\r?\n/)
      .map(oneLine)
      .filter((line) => line !== ''),
    ...otherLines(others, disclosure, currency),
  ];
  return capped(first, lines, `${detailsLine(input)}Decision: ${oneLine(input.decisionId)}`);
}

const detailsLine = ({ detailsUrl, disclosure }: RejectionTextInput): string =>
  detailsUrl === undefined || disclosure === 'none' || detailsUrl.length > URL_CHARACTERS_MAX
    ? ''
    : `Details: ${oneLine(detailsUrl)}\n`;

const retriedText = ({ retries, withinSeconds }: RequeueSettings): string =>
  `You need not retry. Tollgate retries this job when the limit allows it, at most ${retries === 1 ? 'once' : `${retries} times`} within ${durationText(withinSeconds)}.`;

export function footerOf(
  rules: readonly { readonly id: string; readonly message?: string }[],
  violations: readonly Violation[],
): string | undefined {
  const messages = rules
    .filter((rule) => violations.some((violation) => violation.rule === rule.id))
    .flatMap((rule) => rule.message ?? []);
  return messages.length === 0 ? undefined : [...new Set(messages)].join('\n');
}

const isEstimated = (reason: Reason): boolean =>
  'limitAmount' in reason && unitRow(reason.unit).guessed === true;

const jobLabel = ({ jobId, jobName }: RejectionTextInput['request']): string =>
  jobName === undefined ? String(jobId) : `"${shortened(oneLine(jobName), JOB_NAME_CHARACTERS_MAX)}"`;

const jobTerms = (terms: Terms): string =>
  `about ${moneyText(terms.costMicros)} ${terms.currency} (${classText(terms)}, ${durationText(terms.estimateSeconds)})`;

function ownerLines(violations: readonly Violation[], disclosure: Disclosure): readonly string[] {
  if (disclosure === 'none') return [];
  const owners = violations.flatMap(({ reason }) => {
    if (!('owner' in reason) || !reason.owner) return [];
    const contact = 'contact' in reason ? reason.contact : undefined;
    return [`${oneLine(reason.owner)}${contact === undefined ? '' : ` (${oneLine(contact)})`}`];
  });
  return owners.length === 0 ? [] : [`Owner of the limit: ${[...new Set(owners)].join(', ')}`];
}

function otherLines(
  others: readonly Violation[],
  disclosure: Disclosure,
  currency: string,
): readonly string[] {
  if (others.length === 0) return [];
  const lines = others.map(({ reason }) => {
    if (disclosure === 'none') return `  [${reason.code}] ${discreetHeadline(reason)}`;
    const line = disclosure === 'all' ? reasonLine : discreetReasonLine;
    return `  [${reason.code}] ${line(reason, currency)}`;
  });
  return ['Other reasons that also reject this job:', ...new Set(lines)];
}

function capped(first: string, lines: readonly string[], last: string): string {
  let text = plain(first);
  for (const line of lines) {
    const cut = plain(
      line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX - 1)}…` : line,
    );
    if (text.length + cut.length + last.length + 2 > REJECTION_CHARACTERS_MAX) break;
    text += `\n${cut}`;
  }
  return `${text}\n${last}`;
}

export const classText = ({ runnerClass, unclassed }: Pick<Terms, 'runnerClass' | 'unclassed'>): string =>
  unclassed ? `no runner class, taken as ${oneLine(runnerClass)}` : `runner class ${oneLine(runnerClass)}`;

export const classColumn = ({ runnerClass, unclassed }: Pick<Terms, 'runnerClass' | 'unclassed'>): string =>
  unclassed ? `none (${runnerClass})` : runnerClass;
