import type { OwnerMessage } from '../../answers/rollout/shadow.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import { shadowPagePath } from '../../core/notify/console-links.ts';
import { type Message, type Notifier, subjectLine } from '../../core/notify/message.ts';

interface TellOwnerDeps {
  readonly notify: Notifier;
  readonly ledger: Pick<Ledger, 'announceOnce'>;
  /** The address of the console. @default messages without links */
  readonly origin: string | undefined;
}

/** `sent-before`: sent within the last hour already. */
export type ReportSender = (message: OwnerMessage) => Promise<'sent' | 'sent-before'>;

const QUIET_MS = 3_600_000;
/** Longer than a delivery: of two concurrent calls one sends. */
const SENDING_MS = 20_000;
/** In the past, so the announcement is expired already: the call only asks. */
const ASKING_MS = -600_000;
const TIMEOUT_MS = 2_000;
const OWNER_CHARACTERS_MAX = 100;

/** Sends at most one message per subject and hour; a failed one does not count. Throws like {@link Notifier.send}. */
export function createOwnerNotifier({ notify, ledger, origin }: TellOwnerDeps): ReportSender {
  const isNew = async (name: readonly string[], ttlMs: number): Promise<boolean> => {
    const [first] = await ledger.announceOnce([JSON.stringify(name)], { ttlMs, timeoutMs: TIMEOUT_MS });
    return first !== false;
  };
  return async (message) => {
    const key = ['shadow-report', message.subject];
    if (!(await isNew(key, ASKING_MS))) return 'sent-before';
    if (!(await isNew([...key, 'sending'], SENDING_MS))) return 'sent-before';
    await notify.send(reportOf(message, origin));
    await isNew(key, QUIET_MS);
    return 'sent';
  };
}

function reportOf(
  { subject, title, text, path, owner, contact }: OwnerMessage,
  origin: string | undefined,
): Message {
  const to = owner.slice(0, OWNER_CHARACTERS_MAX);
  const id = `shadow-report-${subject.replace('/', '-')}`;
  return {
    subject: subjectLine(title),
    text: `For the owner: ${owner}${contact === undefined ? '' : ` (${contact})`}\n\n${text}\n`,
    json: JSON.stringify({
      kind: 'shadow-report',
      version: 1,
      id,
      owner: to,
      ...(contact !== undefined && { contact }),
      subject,
      subjectLabel:
        subject === 'instance' ? 'the whole GitLab' : `${subject.slice(0, subject.indexOf('/'))} ${path}`,
      ...(origin !== undefined && { link: `${origin}${shadowPagePath(subject)}` }),
      text,
    }),
    id,
    attributes: { owner: to, kind: 'shadow-report', severity: 'info' },
  };
}
