import type { CounterKey } from '../../policies/claim.ts';
import { instantText } from '../../policies/text/edge-text.ts';
import { oneLine, quoted, shortened } from '../../policies/text/plain-text.ts';
import type { Unit } from '../../policies/unit.ts';
import { amountText } from '../../policies/unit-texts.ts';
import { subjectPagePath } from '../core/notify/console-links.ts';
import type { MessageSeverity } from '../core/notify/message.ts';
import { findRecipient, type Ownership, type Recipient } from '../core/notify/recipient.ts';
import type { AlertedLevel } from '../core/thresholds/alert-records.ts';

type Heading = 'Waiting for you' | 'Jobs' | 'Break-glass' | 'Limits' | 'Requests';

/** Every kind of notice with its severity and its heading in a message, in the order of reading. */
export const KINDS = {
  'request-waiting': ['action', 'Waiting for you'],
  'break-glass-review': ['action', 'Waiting for you'],
  'jobs-rejected': ['warning', 'Jobs'],
  'jobs-warned': ['warning', 'Jobs'],
  'break-glass-opened': ['warning', 'Break-glass'],
  'break-glass-used': ['warning', 'Break-glass'],
  'break-glass-changed': ['info', 'Break-glass'],
  'freeze-set': ['warning', 'Limits'],
  'freeze-changed': ['info', 'Limits'],
  'forecast-reached': ['warning', 'Limits'],
  'grant-ending': ['warning', 'Limits'],
  'limit-tightened': ['warning', 'Limits'],
  'limit-loosened': ['info', 'Limits'],
  'limit-described': ['info', 'Limits'],
  'grant-given': ['info', 'Limits'],
  'grant-changed': ['info', 'Limits'],
  'request-decided': ['info', 'Requests'],
} as const satisfies Readonly<Record<string, readonly [MessageSeverity, Heading]>>;

export type NoticeKind = keyof typeof KINDS;

export interface Notice {
  readonly to: Recipient;
  readonly id: string;
  readonly kind: NoticeKind;
  readonly subject: string;
  readonly lines: readonly [string, ...string[]];
  readonly page: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  readonly alert?: { readonly key: CounterKey; readonly level: AlertedLevel };
}

export const createNotice = (
  kind: NoticeKind,
  subject: string,
  context: Ownership,
  parts: Pick<Notice, 'id' | 'lines' | 'facts'> & Partial<Notice>,
): Notice => ({
  to: findRecipient(subject, undefined, context),
  ...{ kind, subject },
  page: subjectPagePath(subject),
  ...parts,
});

/** Texts of people must not crowd out the others. */
const TEXT_CHARACTERS_MAX = 160;
const NAME_CHARACTERS_MAX = 60;

export const cutText = (text: string): string => shortened(oneLine(text), TEXT_CHARACTERS_MAX);
export const cutName = (text: string): string => shortened(oneLine(text), NAME_CHARACTERS_MAX);
export const quoteText = (text: string): string => quoted(text, TEXT_CHARACTERS_MAX);

/** An instant as a change row has it. Other texts, such as `lifted`, stay as they are. */
export const whenText = (text: string, { zone }: { readonly zone: string }): string =>
  Number.isNaN(Date.parse(text)) ? text : instantText(Date.parse(text), zone);

export const wholeAmountText = (
  whole: number,
  unit: Unit,
  { policy: { currency } }: { readonly policy: { readonly currency: string } },
): string => amountText(whole, unit, currency);
