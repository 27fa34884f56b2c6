import type { AlarmInput, AlarmSpec } from '../../cdk/monitoring/alarms/alarm-spec.ts';
import { alarmsFor } from '../../cdk/monitoring/alarms/alarms.ts';

/** A deployment that has every part. */
export const EVERY_PART: AlarmInput = {
  relays: 2,
  deadlineMs: 2_000,
  failurePolicy: 'admit',
  watchdog: true,
  console: true,
  notices: true,
  requeue: true,
  noticesMinutes: 60,
  metrics: true,
};

/** Every alarm that any deployment can have. */
export const ALL_ALARMS: readonly AlarmSpec[] = alarmsFor(EVERY_PART);
