/** Where messages to people go: one port, with SNS (`sns-notify.ts`) and memory behind it. */
import { codedError } from '../../../policies/coded-error.ts';

export interface Message {
  /** One line of printable ASCII, at most {@link SUBJECT_CHARACTERS_MAX}. */
  readonly subject: string;
  /** For people. */
  readonly text: string;
  /** For programs: one JSON value, with an `id` that is the same if the message has to be sent again. */
  readonly json: string;
  /** That id, for topics that drop repeats; at most 128 letters, digits and `-_`. */
  readonly id: string;
  /** Let a subscription take some messages and leave others. */
  readonly attributes?: MessageAttributes;
}

/** What a subscription's filter can ask for. */
interface MessageAttributes {
  /** Whom it is for, as the limits name them; `finance` where they name nobody. */
  readonly owner: string;
  /** What it is about. */
  readonly kind: 'thresholds' | 'notices' | 'shadow-report';
  /** `action`: something waits for whoever reads it. `warning`: jobs were stopped, or will be. */
  readonly severity: MessageSeverity;
}

export type MessageSeverity = 'action' | 'warning' | 'info';

export interface Notifier {
  /**
   * Resolves when the message was taken over.
   * @throws {NotifyError} it may or may not have been.
   */
  send(message: Message): Promise<void>;
}

/** SNS allows 100 characters of ASCII, no line breaks. */
const SUBJECT_CHARACTERS_MAX = 100;

/** What SNS and SQS take, UTF-8, envelope and attributes included. */
export const MESSAGE_BYTES_MAX = 262_144;

export class NotifyError extends codedError('NotifyError', {
  /** The topic gave no answer; the message may have arrived. */
  notify_unavailable: true,
  /** More than SNS and SQS take. */
  message_too_large: false,
}) {}

/** Makes any text a subject: what is not printable ASCII becomes `?`, what is too long is cut. */
export function subjectLine(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/gu, '?');
  return ascii.length <= SUBJECT_CHARACTERS_MAX ? ascii : `${ascii.slice(0, SUBJECT_CHARACTERS_MAX - 3)}...`;
}

/** Keeps what was sent: for tests and local runs, where `onSent` prints it. */
export class MemoryNotifier implements Notifier {
  readonly sent: Message[] = [];
  readonly #onSent: (message: Message) => void;

  constructor(onSent: (message: Message) => void = () => {}) {
    this.#onSent = onSent;
  }

  async send(message: Message): Promise<void> {
    this.sent.push(message);
    if (this.sent.length > SENT_MAX) this.sent.shift();
    this.#onSent(message);
  }
}

/** A local run may go on for days. */
const SENT_MAX = 1_000;
