import { type Addressee, FINANCE } from '../notify/index.ts';

const SERVICES = ['slack', 'teams'] as const;

/** An incoming webhook; its address is a secret. */
export interface ChatAddress {
  /** As the limits have it under `contact`; `finance`, or `*` for whoever has no line of their own. */
  readonly channel: string;
  readonly service: (typeof SERVICES)[number];
  readonly url: string;
}

interface ChatListing {
  readonly channels: readonly ChatAddress[];
  /** Numbers of lines that cannot be read, from 1. */
  readonly unreadable: readonly number[];
}

const LINE = /^(\S.*?)\s+(\S+)\s+(\S+)$/;
/** Only what listens on this machine may go without TLS. */
const ADDRESS = /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost)[:/])\S+$/;
const CHANNELS_MAX = 500;

/** Lines such as `#ci-budget slack https://hooks.slack.com/services/…`; those that begin with `# ` are remarks. */
export function readChatChannels(lines: readonly string[]): ChatListing {
  const channels: ChatAddress[] = [];
  const unreadable: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (/^#(\s|$)/.test(line)) continue;
    const [, channel = '', written = '', url = ''] = LINE.exec(line) ?? [];
    const service = SERVICES.find((each) => each === written.toLowerCase());
    if (service === undefined || !ADDRESS.test(url) || !URL.canParse(url)) unreadable.push(index + 1);
    else if (channels.length < CHANNELS_MAX) channels.push({ channel, service, url });
  }
  return { channels, unreadable };
}

/** Where an addressee is told: by the contact their limits name. Owners of different groups may be called alike. */
export function channelOf(
  { owner, contact }: Addressee,
  channels: readonly ChatAddress[],
): ChatAddress | undefined {
  const called = (name: string | undefined): ChatAddress | undefined =>
    channels.find(({ channel }) => name !== undefined && channel.toLowerCase() === name.toLowerCase());
  return called(contact) ?? (owner === FINANCE.owner ? called(FINANCE.owner) : undefined) ?? called('*');
}
