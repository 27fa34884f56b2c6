/** Sends the shadow report to the owner of a group or project, however many press the button. */
import type { OwnerMessage } from '../../answers/rollout/shadow.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import { shadowPagePath } from '../../core/notify/console-links.ts';
import { type Message, type Notifier, subjectLine } from '../../core/notify/message.ts';

interface TellOwnerDeps {
  readonly notify: Notifier;
  readonly ledger: Pick<Ledger, 'announceOnce'>;
  /** The console's address, as the browser sees it; undefined: not known, and the message has no link. */
  readonly origin: string | undefined;
}

/** `told-before`: sent within the last hour, and not again. */
export type ReportSender = (message: OwnerMessage) => Promise<'sent' | 'told-before'>;

const QUIET_MS = 3_600_000;
/** Longer than a delivery: of two concurrent calls one sends. */
const SENDING_MS = 20_000;
/** Long enough ago to never stand: it only asks. */
const ASKING_MS = -600_000;
const TIMEOUT_MS = 2_000;
const OWNER_CHARACTERS_MAX = 100;

/** At most one message per group or project and hour; one that was not taken does not count. Throws like {@link Notifier.send}. */
export function tellOwnerBy({ notify, ledger, origin }: TellOwnerDeps): ReportSender {
  const isNew = async (key: readonly string[], ttlMs: number): Promise<boolean> => {
    const [first] = await ledger.announceOnce([JSON.stringify(key)], { ttlMs, timeoutMs: TIMEOUT_MS });
    return first !== false;
  };
  return async (message) => {
    const told = ['shadow-report', message.subject];
    if (!(await isNew(told, ASKING_MS))) return 'told-before';
    if (!(await isNew([...told, 'sending'], SENDING_MS))) return 'told-before';
    await notify.send(reportOf(message, origin));
    await isNew(told, QUIET_MS);
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
