import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { ConsoleReader } from '../../answers/create-console-read.ts';
import type { Log } from '../../core/environment/index.ts';
import type { LimitsDesk, Uploads } from '../../core/limits/index.ts';
import type { ApprovalCheck } from '../../core/notify/approval-link.ts';
import type { OwnSessions, SignInEnv } from '../../core/signin/index.ts';
import type { ReportSender } from '../api/tell-owner.ts';
import type { Markup } from './parts/markup.ts';
import type { PageFormat } from './parts/page-format.tsx';

export interface PagesDeps {
  readonly desk: LimitsDesk;
  readonly read: ConsoleReader;
  readonly policy: Policy;
  /** The groups as they are now: a file of limits names them by path. */
  readonly directory: () => Promise<Directory | undefined>;
  readonly uploads: Uploads;
  readonly clock: { nowMs(): number };
  /** IANA zone of instants that belong to no limit, and of days. */
  readonly zone: string;
  /** Our own address, as the browser sees it; stands in mails. */
  readonly origin: string;
  /** Notifies a group's owner, e.g. by SNS; absent: opens the reader's mail program. */
  readonly tellOwner?: ReportSender;
  /** Checks signed links to requests; absent: none is taken. */
  readonly checkApproval?: ApprovalCheck;
  /** Sessions of users; absent: not shown. */
  readonly sessions?: OwnSessions;
  readonly log: Log;
}

export type PageContext = Context<SignInEnv>;

export const pageFormatOf = ({ policy, zone, clock }: PagesDeps): PageFormat => ({
  currency: policy.currency,
  zone,
  nowMs: clock.nowMs(),
});

export const send = async (
  c: PageContext,
  markup: Markup,
  status: ContentfulStatusCode = 200,
): Promise<Response> => c.html(await markup, status);
