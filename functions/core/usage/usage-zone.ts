import { isZone } from '../../../policies/limits/calendar.ts';
import { ENV_ROLLUP_ZONE } from '../../names.ts';
import type { Environment } from '../environment/index.ts';

/** Reads the IANA zone of usage days. An invalid one is added to `problems`. */
export function usageZone(env: Environment, problems: string[]): string {
  const zone = env[ENV_ROLLUP_ZONE] || 'UTC';
  if (!isZone(zone))
    problems.push(`${ENV_ROLLUP_ZONE} is "${zone}"; expected an IANA zone such as Europe/Berlin`);
  return zone;
}
