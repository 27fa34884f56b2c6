import type { RelayEvent } from '../../../relay/events.ts';
import { startEmf } from '../../../relay/monitoring/cloudwatch.ts';
import { createLogger, logEvents } from '../../../relay/monitoring/log.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { measuredOf } from '../emf-spec.ts';

/** The log lines and the CloudWatch values that a relay makes of its events, as if they came within one minute. */
export function reported(events: readonly RelayEvent[]) {
  const clock = handClock(1_000);
  const log: Record<string, unknown>[] = [];
  const metrics: string[] = [];
  const observe = logEvents(createLogger('info', { write: (line) => log.push(JSON.parse(line)) }), clock);
  const write = (line: string): void => void metrics.push(line);
  const emf = startEmf({ deployment: 'production', clock, random: () => 0.5, write });
  for (const event of events) {
    observe(event);
    emf.observe(event);
  }
  emf.stop();
  return { log, values: measuredOf(metrics[0] ?? '').values };
}
