import type { PeerRouter, Tally } from './peer-router.ts';
import type { Scene } from './phase.ts';
import type { RelayProcess } from './relay-process.ts';
import { until } from './until.ts';

/** More than any proof of a schema asks for; of all projects. */
const WARM_QUESTIONS = 96;

/** Jobs that pass, until the relay knows that it reads this router rightly: before that it rejects nobody. */
export async function warmUp(scene: Scene, router: PeerRouter, firstJobId = 1): Promise<void> {
  scene.expect('a relay waits for questions', await router.waits(4), true);
  const tally = await router.ask({
    count: WARM_QUESTIONS,
    inFlight: 8,
    firstJobId,
    verdicts: ['admit'],
  });
  scene.expectRight('warm-up', tally);
}

/** What may differ from "the ledger decided, and the router heard". */
export interface Due {
  /** @default 0 */
  readonly fallback?: number;
  /** @default 0 */
  readonly unreadable?: number;
  /** `any` where the router itself broke connections or holds streams. @default 0 */
  readonly unheard?: number | 'any';
}

/** The router's counts and the relay's are the same to the last question, once the relay has caught up. */
export async function expectSameBooks(
  scene: Scene,
  router: PeerRouter,
  relay: RelayProcess,
  due: Due = {},
): Promise<void> {
  const asked = await router.report();
  const questions = asked.questions ?? 0;
  await until(async () => {
    const { admitted, rejected } = await relay.counts();
    return admitted + rejected >= questions;
  });
  const told = await relay.counts();
  scene.expect('questions by the relay', told.questions, questions);
  scene.expect('admitted by the relay', told.admitted, asked.admitted ?? 0);
  scene.expect('rejected by the relay', told.rejected, asked.rejected ?? 0);
  scene.expect('answered without the ledger', told.fallback, due.fallback ?? 0);
  scene.expect('unreadable to the relay', told.unreadable, due.unreadable ?? 0);
  if (due.unheard !== 'any') scene.expect('answers nobody heard', told.unheard, due.unheard ?? 0);
}

/** How many questions of a tally had one of these shapes. */
export const ofShapes = ({ kinds }: Tally, shapes: readonly string[]): number =>
  Object.entries(kinds)
    .filter(([kind]) => shapes.includes(kind.split('/', 1)[0] ?? ''))
    .reduce((sum, [, count]) => sum + count, 0);
