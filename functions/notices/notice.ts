/** Notices: their kinds, and the words that their texts share. */
import type { CounterKey } from '../../policies/claim.ts';
import { instantText } from '../../policies/text/edge-text.ts';
import { oneLine, quoted, shortened } from '../../policies/text/plain-text.ts';
import type { Unit } from '../../policies/unit.ts';
import { amountText } from '../../policies/unit-texts.ts';
import { subjectPagePath } from '../core/notify/console-links.ts';
import type { MessageSeverity } from '../core/notify/message.ts';
import { findRecipient, type Ownership, type Recipient, subjectLabel } from '../core/notify/recipient.ts';
import type { AlertedLevel } from '../core/thresholds/alert-records.ts';

type Heading = 'Waiting for you' | 'Jobs' | 'Break-glass' | 'Limits' | 'Requests';
/** Severity, heading in a message, and the part of a message's subject line that counts it. */
type KindRow = readonly [severity: MessageSeverity, heading: Heading, part: keyof typeof SUBJECT_PARTS];

/** Every kind of notice, in the order of reading. */
export const KINDS = {
  'request-waiting': ['action', 'Waiting for you', 'requests'],
  'break-glass-review': ['action', 'Waiting for you', 'reviews'],
  'jobs-rejected': ['warning', 'Jobs', 'rejected'],
  'jobs-warned': ['warning', 'Jobs', 'warned'],
  'break-glass-opened': ['warning', 'Break-glass', 'brokenGlass'],
  'break-glass-used': ['warning', 'Break-glass', 'brokenGlass'],
  'break-glass-changed': ['info', 'Break-glass', 'changedGlass'],
  'freeze-set': ['warning', 'Limits', 'freezes'],
  'freeze-changed': ['info', 'Limits', 'limits'],
  'freeze-lifted': ['info', 'Limits', 'limits'],
  'forecast-reached': ['warning', 'Limits', 'limits'],
  'grant-ending': ['warning', 'Limits', 'limits'],
  'limit-tightened': ['warning', 'Limits', 'limits'],
  'limit-loosened': ['info', 'Limits', 'limits'],
  'limit-described': ['info', 'Limits', 'limits'],
  'grant-given': ['info', 'Limits', 'limits'],
  'grant-changed': ['info', 'Limits', 'limits'],
  'request-decided': ['info', 'Requests', 'decided'],
} as const satisfies Readonly<Record<string, KindRow>>;

export type NoticeKind = keyof typeof KINDS;

/** Parts of a subject line, in this order. */
const SUBJECT_PARTS = {
  requests: ({ length }: readonly Notice[]) => countText(length, 'request waits', 'requests wait'),
  reviews: ({ length }: readonly Notice[]) => `${length} break-glass to review`,
  rejected: (notices: readonly Notice[]) => jobsText(notices, 'rejected'),
  warned: (notices: readonly Notice[]) => jobsText(notices, 'would have been rejected'),
  brokenGlass: () => 'break-glass used',
  freezes: ({ length }: readonly Notice[]) => countText(length, 'freeze'),
  limits: ({ length }: readonly Notice[]) => `${countText(length, 'change')} of limits`,
  changedGlass: () => 'break-glass changed',
  decided: ({ length }: readonly Notice[]) => countText(length, 'request decided', 'requests decided'),
} as const;

/** `1 request waits, 3 jobs of group acme/payments rejected, 2 changes of limits` */
export function headlineText(notices: readonly Notice[]): string {
  const byPart = Map.groupBy(notices, ({ kind }) => KINDS[kind][2]);
  if (byPart.has('brokenGlass')) byPart.delete('changedGlass');
  return Object.entries(SUBJECT_PARTS)
    .flatMap(([part, text]) => {
      const counted = byPart.get(part as keyof typeof SUBJECT_PARTS);
      return counted === undefined ? [] : [text(counted)];
    })
    .join(', ');
}

/** Jobs of a group are also jobs of the groups above it, so the numbers of several groups have no sum. */
function jobsText(notices: readonly Notice[], outcome: string): string {
  const [first] = notices;
  return first !== undefined && notices.length === 1
    ? `${countText(Number(first.facts.jobs), 'job')} of ${first.label} ${outcome}`
    : `jobs of ${notices.length} groups ${outcome}`;
}

/** An event, as one recipient reads it. */
export interface Notice {
  readonly to: Recipient;
  /** The same when it is sent again: receivers know repeats by it. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** `group/101` */
  readonly subject: string;
  /** `group acme/payments` */
  readonly label: string;
  readonly lines: readonly [string, ...string[]];
  /** Path in the console. */
  readonly page: string;
  readonly examples?: readonly Example[];
  /** For programs. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  /** A level of a limit: the message's outcome is recorded next to its counter. */
  readonly alert?: { readonly key: CounterKey; readonly level: AlertedLevel };
}

/** A job and the path of its page. */
interface Example {
  readonly text: string;
  readonly page: string;
}

export interface JobCounts {
  readonly rejected?: number;
  /** Keyed by rule. */
  readonly warned?: Readonly<Record<string, number>>;
}

type NoticeParts = Pick<Notice, 'id' | 'lines' | 'facts'> & Partial<Notice>;

/** Fills in the defaults: the recipient, label and page of the subject. */
export const aNotice = (
  kind: NoticeKind,
  subject: string,
  context: Ownership,
  parts: NoticeParts,
): Notice => ({
  to: findRecipient(subject, undefined, context),
  ...{ kind, subject },
  label: subjectLabel(subject, context.directory),
  page: subjectPagePath(subject),
  ...parts,
});

/** Texts of people must not crowd out the others. */
const TEXT_CHARACTERS_MAX = 160;
const NAME_CHARACTERS_MAX = 60;

export const cutText = (text: string): string => shortened(oneLine(text), TEXT_CHARACTERS_MAX);
export const cutName = (text: string): string => shortened(oneLine(text), NAME_CHARACTERS_MAX);
export const quoteText = (text: string): string => quoted(text, TEXT_CHARACTERS_MAX);

/** `37 jobs`, `1 job` */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** An instant as a change row has it. Other texts, such as `lifted`, stay as they are. */
export const whenText = (text: string, { zone }: { readonly zone: string }): string =>
  Number.isNaN(Date.parse(text)) ? text : instantText(Date.parse(text), zone);

export const wholeAmountText = (
  whole: number,
  unit: Unit,
  { policy: { currency } }: { readonly policy: { readonly currency: string } },
): string => amountText(whole, unit, currency);
