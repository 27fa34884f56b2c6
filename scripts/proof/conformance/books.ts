import { METRIC_STREAMS_OPEN, METRIC_STREAMS_WAITING } from '../../../relay/names.ts';
import type { PeerRouter } from './peer-router.ts';
import type { Scene } from './phase.ts';
import type { RelayProcess } from './relay-process.ts';
import { until } from './until.ts';

/** More than any proof of a schema asks for; all projects together. */
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
interface Due {
  /** @default 0 */
  readonly fallback?: number;
  /** @default 0 */
  readonly unreadable?: number;
  /** `any` where the router itself broke connections or holds streams. @default 0 */
  readonly unheard?: number | 'any';
}

/**
 * Waits until the relay knows how every question ended: it hears of the end of a stream after the router has its answer.
 * Whoever breaks connections does so afterwards.
 */
export async function caughtUp(router: PeerRouter, relay: RelayProcess): Promise<void> {
  const { questions = 0 } = await router.report();
  await until(async () => {
    const { admitted, rejected } = await relay.counts();
    return admitted + rejected >= questions;
  });
}

/** What the relay shows of its streams is what the router has, when nothing is going on. */
export async function expectSameStreams(
  scene: Scene,
  router: PeerRouter,
  relay: RelayProcess,
): Promise<void> {
  let seen = '';
  const agree = await until(async () => {
    const { waiting = 0 } = await router.report();
    const open = await relay.gauge(METRIC_STREAMS_OPEN);
    const believed = await relay.gauge(METRIC_STREAMS_WAITING);
    seen = `${open} open, ${believed} waiting, the router has ${waiting}`;
    return open === waiting && believed === waiting;
  });
  scene.expectThat('streams the relay shows', agree, seen, 'those the router has');
}

/** The router's counts and the relay's are the same to the last question, once the relay has caught up. */
export async function expectSameBooks(
  scene: Scene,
  router: PeerRouter,
  relay: RelayProcess,
  due: Due = {},
): Promise<void> {
  await caughtUp(router, relay);
  const asked = await router.report();
  const questions = asked.questions ?? 0;
  const told = await relay.counts();
  scene.expect('questions by the relay', told.questions, questions);
  scene.expect('admitted by the relay', told.admitted, asked.admitted ?? 0);
  scene.expect('rejected by the relay', told.rejected, asked.rejected ?? 0);
  scene.expect('answered without the ledger', told.fallback, due.fallback ?? 0);
  scene.expect('unreadable to the relay', told.unreadable, due.unreadable ?? 0);
  if (due.unheard !== 'any') scene.expect('answers nobody heard', told.unheard, due.unheard ?? 0);
}
