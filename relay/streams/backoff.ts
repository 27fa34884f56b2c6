import { STATUS } from '../router/router.ts';

/** Bounds of the waiting time after one kind of failure, and what an operator can do about it. */
interface Pace {
  readonly minMs: number;
  readonly maxMs: number;
  readonly remedy?: string;
  /** It is the token that was refused: another one may be taken at once. */
  readonly ofToken?: boolean;
}

/** A router that is back is found within moments: one try every second or two costs nobody anything. */
const CONNECTION: Pace = { minMs: 100, maxMs: 2_000 };

/** The router refused who we are: it caches that for a minute, and a faster try only fills its log. */
const refused = (remedy: string): Pace => ({ minMs: 30_000, maxMs: 60_000, remedy, ofToken: true });

const PACE: Readonly<Record<number, Pace>> = {
  [STATUS.UNAUTHENTICATED]: refused(
    'check that the token belongs to a runner controller and is not revoked; a new one is used as soon as it is there',
  ),
  [STATUS.PERMISSION_DENIED]: refused('GitLab refuses this controller; check its state, scopes and licence'),
  [STATUS.NOT_FOUND]: refused(
    'GitLab knows no such controller, or nothing answers at this URL; check token and URL',
  ),
  // Its limit is counted per minute.
  [STATUS.RESOURCE_EXHAUSTED]: {
    minMs: 10_000,
    maxMs: 60_000,
    remedy: "raise the router's limit of new calls per token and minute, or run fewer relays per token",
  },
  // Ours to fix, so no try will help soon.
  [STATUS.INVALID_ARGUMENT]: {
    minMs: 1_000,
    maxMs: 60_000,
    remedy:
      'the router refuses our messages; run `npm run doctor`, and `npm run proto:sync` for the schema of its version',
  },
  [STATUS.UNIMPLEMENTED]: {
    minMs: 60_000,
    maxMs: 300_000,
    remedy:
      'the router does not know this method: update GitLab to 18.9 or newer, or get its schema with `npm run proto:sync -- --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE',
  },
};

const paceOf = (code: number): Pace => PACE[code] ?? CONNECTION;

export const refusesToken = (code: number): boolean => paceOf(code).ofToken === true;

export const remedyFor = (code: number): string | undefined => paceOf(code).remedy;

/**
 * Full jitter over a span that doubles with each attempt (from 1), never below the class's least time: relays that lost
 * the router together do not return to it together.
 */
export function backoffMs(code: number, attempt: number, random: () => number): number {
  const { minMs, maxMs } = paceOf(code);
  const span = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30)) - minMs;
  return Math.round(minMs + random() * span);
}
