import type { Settings } from '../../../cdk/settings/settings.ts';

/** What Lambda leaves to functions that reserve nothing. */
export const UNRESERVED_MIN = 100;
/** As cdk/constructs reserve it: webhooks, the console's pages, and one run at a time of each program by the clock. */
const SETTLE = 20;
const CONSOLE = 10;
/** sweep, directory, drift, ssm-limits */
const BY_THE_CLOCK = 4;

export const reservedConcurrency = ({
  console,
  watchdog,
  notices,
}: Pick<Settings, 'console' | 'watchdog' | 'notices'>): number =>
  SETTLE +
  BY_THE_CLOCK +
  (notices.everyMinutes > 0 ? 1 : 0) +
  (console === undefined ? 0 : CONSOLE) +
  (watchdog ? 1 : 0);
