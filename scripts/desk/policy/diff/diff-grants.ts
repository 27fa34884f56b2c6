import { isDeepStrictEqual } from 'node:util';
import type { Grant } from '../../../../policies/limits/grant.ts';
import type { Limit } from '../../../../policies/limits/limits.ts';
import { instantText } from '../../../../policies/text/instant-text.ts';
import { amountWritten } from './amount-written.ts';
import type { Change, Effect } from './change.ts';

/** Grants of one limit that came and went. One that was changed is told as both. */
export function grantChanges(at: string, from: Limit, to: Limit, nowMs: number): readonly Change[] {
  const enforced = from.mode === 'enforce' || to.mode === 'enforce';
  const told = (limit: Limit, grant: Grant, sign: '+' | '-', effect: Effect): Change => {
    const over = grant.untilMs <= nowMs;
    return {
      at: `${at}.grants`,
      what: `${sign} ${grantText(limit, grant)}${over ? ' (is over)' : ''}`,
      effect: enforced && !over ? effect : 'neutral',
    };
  };
  return [
    ...without(from, to).map((grant) => told(from, grant, '-', 'tightens')),
    ...without(to, from).map((grant) => told(to, grant, '+', 'loosens')),
  ];
}

const without = ({ grants = [] }: Limit, { grants: others = [] }: Limit): readonly Grant[] =>
  grants.filter((grant) => !others.some((other) => isDeepStrictEqual(grant, other)));

/** `50.00 from 1 Nov 2026 00:00 to 1 Dec 2026 00:00 Europe/Berlin: release week, FIN-12`. */
function grantText(limit: Limit, { amount, fromMs, untilMs, reason, ticket }: Grant): string {
  const from = instantText(fromMs, limit.zone).slice(0, -(limit.zone.length + 1));
  const why = ticket === undefined ? reason : `${reason}, ${ticket}`;
  return `${amountWritten({ ...limit, amount })} from ${from} to ${instantText(untilMs, limit.zone)}: ${why}`;
}
