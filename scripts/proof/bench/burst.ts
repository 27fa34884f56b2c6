import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { createAnswering, createQuestionReader } from '../../../relay/answer.ts';
import { createBreaker } from '../../../relay/breaker.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createFallback } from '../../../relay/fallback.ts';
import { createForwarder } from '../../../relay/forward.ts';
import { statelessCheck } from '../../../relay/stateless-check.ts';
import { compileReader, plausibilityJudge } from '../../../relay/translate/question-reader.ts';
import { WaitingQueue } from '../../../relay/waiting/waiting-queue.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { createSchemaProof } from '../../../relay/wire/schema-proof.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { INLINE_URL, inlineFetch } from '../../local/inline.ts';
import { questionEncoder } from '../../local/router/question.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { benchRules } from './bench-rules.ts';
import { contendedStore } from './contended-store.ts';
import { MODELLED_TRANSACTION_MS } from './contention-constants.ts';
import { countingStore } from './counting-store.ts';
import type { Figure } from './figure.ts';
import { benchQuestion } from './router-process.ts';

const INSTANCE = 'bench.example.com';
const QUESTIONS = 500;

/**
 * 500 questions of one group at once, from their bytes to the last answer: decoded, translated, batched, posted to the
 * admit app as JSON, evaluated and held on the modelled table. In undisturbed transactions.
 */
export async function burstFigure(): Promise<Figure> {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const memory = new MemoryStore({ instance: INSTANCE });
  const store = countingStore(contendedStore(memory, clock, random), INSTANCE);
  const rules = benchRules(1);
  const observe = (): void => {};
  const schema = loadSchema();
  const proof = createSchemaProof('given', observe);
  const forwarder = createForwarder({
    baseUrl: INLINE_URL,
    fetch: inlineFetch({
      ledger: createLedger({ store, clock, random }),
      currentRules: async () => rules,
      clock,
      log: silentLog,
    }),
    clock,
    random,
    breaker: createBreaker(() => clock.monotonicMs(), observe),
    observe,
  });
  const commit = createGroupCommit({
    send: forwarder.send,
    clock,
    observe,
    defer: (run) => void clock.after(0, run),
  });
  const answer = createAnswering({
    read: createQuestionReader({
      read: compileReader(schema, { variables: rules.policy.variables, trustVariables: false }),
      judge: plausibilityJudge(() => rules.directory),
      proof,
      observe,
    }),
    proof,
    waiting: new WaitingQueue({ commit, clock, observe, deadlineMs: 2_000, answerWithinMs: 2_000 }),
    fallback: createFallback({
      clock,
      stateless: statelessCheck(rules.policy, clock, () => rules.directory),
      costAndCapacity: 'reject',
      newDecisionId: () => 'f-bench',
    }),
    unmetered: {
      add: observe,
      leave: observe,
      flush: async () => {},
      queued: 0,
      isBookedSince: () => true,
    },
    clock,
    observe,
  });
  const encode = questionEncoder(schema.question, true);
  const questions = Array.from({ length: QUESTIONS }, (_, index) => encode(benchQuestion(index + 1)));
  const answers = await clock.run(
    Promise.all(questions.map((bytes) => answer({ bytes, arrivedAtMs: clock.monotonicMs() }))),
  );
  const admitted = answers.filter((given) => given.answer.outcome === 'admitted').length;
  const transactions = store.counts.committed;
  return {
    name: 'burst of 500 questions in one group, last answer',
    // An answer of the fallback is no admission: the figure counts only if the ledger gave them all.
    value: admitted === QUESTIONS ? clock.monotonicMs() / MODELLED_TRANSACTION_MS : Number.NaN,
    must: { atMost: 10 },
    unit: 'tx',
    kind: 'modelled',
    note: `${admitted} of ${QUESTIONS} admitted by ${transactions} transactions in ${clock.monotonicMs().toFixed(0)} modelled ms; one takes ${MODELLED_TRANSACTION_MS} ms`,
  };
}
