import { codedError } from '../../../policies/coded-error.ts';

export interface Message {
  /** One line, made by {@link subjectLine}. */
  readonly subject: string;
  readonly text: string;
  /** For programs: one JSON value with the `id` below. */
  readonly json: string;
  /** The same when the message is sent again: a FIFO topic drops repeats by it. At most 128 letters, digits and `-_`. */
  readonly id: string;
  readonly attributes?: {
    /** The recipient's name in the limits; `finance` if they name none. */
    readonly owner: string;
    readonly kind: 'thresholds' | 'notices' | 'shadow-report';
    readonly severity: MessageSeverity;
  };
}

/** `action`: the recipient has to act. `warning`: jobs were stopped, or will be. */
export type MessageSeverity = 'action' | 'warning' | 'info';

export interface Notifier {
  /**
   * Resolves when the channel has taken the message.
   * @throws {NotifyError} The message may have been sent, so callers send at least once.
   */
  send(message: Message): Promise<void>;
}

export class NotifyError extends codedError('NotifyError', {
  notify_unavailable: true,
  message_too_large: false,
}) {}

/** SNS and SQS take 256 KiB of UTF-8, with envelope and attributes. */
export const MESSAGE_BYTES_MAX = 262_144;

/** SNS takes 100 characters of ASCII without line breaks. */
export function subjectLine(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/gu, '?');
  return ascii.length <= 100 ? ascii : `${ascii.slice(0, 97)}...`;
}

const SENT_MAX = 1_000;

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
