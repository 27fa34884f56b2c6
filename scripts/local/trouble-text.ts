import type { RelayEvent } from '../../relay/events.ts';

/** What of the relay's events a person wants to read. */
export function troubleText(event: RelayEvent): string | undefined {
  switch (event.type) {
    case 'backing_off':
      return `no stream to the router (status ${event.code}), next try in ${Math.round(event.delayMs)} ms${event.remedy === undefined ? '' : `: ${event.remedy}`}`;
    case 'registration_failed':
      return `registration failed (status ${event.code}): ${event.details}; admission goes on without it`;
    case 'unreadable':
      return `a question could not be read: ${event.problem}`;
    case 'unknown_fields':
      return `the schema does not explain: ${event.fields.join(' ')}`;
    case 'suspicious':
      return `job ${event.jobId}: variables contradict GitLab in ${event.fields.join(', ')}`;
    case 'admit_failed':
      return `admit function: ${event.details}`;
    default:
      return undefined;
  }
}
