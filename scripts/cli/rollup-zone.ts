import { ENV_ROLLUP_ZONE } from '../../functions/names.ts';
import { isZone } from '../../policies/limits/calendar.ts';
import { type TerminalIo, UsageError } from '../terminal/command.ts';

/** IANA zone of the deployment's days. @throws {UsageError} for what is no zone. */
export function rollupZone({ env }: Pick<TerminalIo, 'env'>): string {
  const zone = env[ENV_ROLLUP_ZONE] || 'UTC';
  if (isZone(zone)) return zone;
  throw new UsageError(`${ENV_ROLLUP_ZONE} "${zone}": expected an IANA zone such as Europe/Berlin`);
}
