import type { RelayEvent } from '../../relay/events.ts';

/** What of the relay's events a person wants to read. */
export function troubleText(event: RelayEvent): string | undefined {
  switch (event.type) {
    case 'backing_off':
      return `no stream to the router: ${event.details}${withRemedy(event.remedy)}; next try in ${Math.round(event.delayMs)} ms`;
    case 'registration_failed':
      return `registration failed: ${event.details}${withRemedy(event.remedy)}; admission goes on without it`;
    case 'unreadable':
      return `a question could not be read: ${event.problem}`;
    case 'schema':
      if (event.standing === 'placeholder')
        return 'nothing is ever rejected: these descriptors are the placeholder; give GitLab’s own with --proto';
      return event.standing === 'suspect'
        ? 'nothing is rejected: most recent questions contradict the schema'
        : undefined;
    case 'rejection_withheld':
      return `a rejection was withheld${event.code === undefined ? '' : ` (${event.code})`}: the schema is ${event.standing}`;
    case 'own_fault':
      return `a part of the relay failed: ${event.place}, ${event.error}`;
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

const withRemedy = (remedy: string | undefined): string => (remedy === undefined ? '' : `; ${remedy}`);
