import { warmUp } from '../books.ts';
import type { Transport } from '../peer-router.ts';
import type { Phase } from '../phase.ts';
import type { RelayProcess } from '../relay-process.ts';

const DRAINS = 10;
/** Few, so that pools stay small on a slow machine too: what a leaving relay still has waiting is soon taken. */
const IN_FLIGHT = 12;

/** A deployment, ten times: the new relay comes, the old one is told to go, and the router asks all the while. */
export const drains = (transport: Transport): Phase => ({
  name: `${DRAINS} drains under load`,
  says: `${DRAINS} relays get SIGTERM while 150 questions a second are asked; not one question is lost`,
  run: async (scene) => {
    const router = await scene.router({ transport });
    const first = await scene.relay(router);
    await warmUp(scene, router);
    const load = router.ask({ inFlight: IN_FLIGHT, perSecond: 150, firstJobId: 1000, verdicts: ['admit'] });
    const relays: RelayProcess[] = [first];
    const exits: Promise<number | null>[] = [];
    let oldest = first;
    for (let drain = 0; drain < DRAINS; drain += 1) {
      const next = await scene.relay(router);
      await next.connected();
      relays.push(next);
      exits.push(oldest.drain());
      oldest = next;
    }
    const codes = await Promise.all(exits);
    await router.stop();
    scene.expectRight('meanwhile', await load);
    scene.expect('exit code of the last', await oldest.drain(), 0);
    scene.expect('exit codes', codes.join(' '), Array(DRAINS).fill(0).join(' '));
    const asked = await router.report();
    const sum = (count: 'questions' | 'admitted' | 'rejected' | 'fallback' | 'unreadable'): number =>
      relays.reduce((total, relay) => total + relay.written()[count], 0);
    scene.expect('questions by the relays', sum('questions'), asked.questions);
    scene.expect('admitted by the relays', sum('admitted'), asked.admitted);
    scene.expect('rejected by the relays', sum('rejected'), asked.rejected ?? 0);
    scene.expect('answered without the ledger', sum('fallback'), 0);
    scene.expect('unreadable to the relays', sum('unreadable'), 0);
  },
});
