import type { AlarmInput } from '../../cdk/monitoring/admission-alarms.ts';
import { type AlarmSpec, alarmsFor } from '../../cdk/monitoring/alarms.ts';

export const EVERY_PART: AlarmInput = {
  ...{ relays: 2, deadlineMs: 2_000, failurePolicy: 'admit', noticesMinutes: 60 },
  ...{ watchdog: true, console: true, requeue: true, metrics: true },
};

export const ALL_ALARMS: readonly AlarmSpec[] = alarmsFor(EVERY_PART);
