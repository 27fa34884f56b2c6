import { type Message, subjectLine } from '../core/notify/notify.ts';

export interface PageFacts {
  readonly instance: string;
  /** When a relay was last heard, Unix ms. */
  readonly heardAtMs: number;
  readonly nowMs: number;
}

const PAGES = {
  disarmed: {
    subject: 'no relay: the controller was set to dry_run',
    text:
      'Jobs run without being asked about: no limit holds, and what they cost is charged from their webhooks.\n' +
      'Find out why no relay runs, start one, then arm again by hand: glab runner-controller update <id> --state enabled',
  },
  armed_without_relay: {
    subject: 'the controller is enabled and there is no relay',
    text:
      'Somebody armed it after the watchdog had disarmed it. GitLab fails every job it would ask about.\n' +
      'Start a relay, or disarm: glab runner-controller update <id> --state dry_run',
  },
  gitlab_unreachable: {
    subject: 'no relay, and GitLab cannot be told',
    text:
      'While the controller is enabled, GitLab fails every job it would ask about. Nothing was changed.\n' +
      "Disarm by hand: glab runner-controller update <id> --state dry_run. Then see the watchdog's log for why it could not.",
  },
} as const;

/** What whoever is on call reads first. */
export function pageOf(what: keyof typeof PAGES, { instance, heardAtMs, nowMs }: PageFacts): Message {
  const { subject, text } = PAGES[what];
  const silentMinutes = Math.floor((nowMs - heardAtMs) / 60_000);
  const id = `watchdog-${what}-${heardAtMs}-${nowMs}`;
  const heardAt = new Date(heardAtMs).toISOString();
  return {
    subject: subjectLine(`Tollgate ${instance}: ${subject}`),
    text: `No relay of ${instance} was heard for ${silentMinutes} min, the last at ${heardAt}.\n${text}`,
    json: JSON.stringify({ id, kind: 'watchdog', what, instance, heardAt, silentMinutes }),
    id,
  };
}
